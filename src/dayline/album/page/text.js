// Numbers, names and times as text.

export function two(number) {
  return String(number).padStart(2, "0");
}

export function plural(count, word) {
  return `${count.toLocaleString("en-GB")} ${word}${count === 1 ? "" : "s"}`;
}

// 0:32, 1:02:03, as players show it.
export function lengthText(seconds) {
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${two(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

// A to Z, AA, AB, like the columns of a spreadsheet.
export function letters(place) {
  let text = "";
  do {
    text = String.fromCharCode(65 + (place % 26)) + text;
    place = Math.floor(place / 26) - 1;
  } while (place >= 0);
  return text;
}

// How texts are compared in a search: whatever their case, and however their characters are
// composed.
export function comparable(text) {
  return text.normalize("NFKC").toLowerCase();
}

export function wordsIn(text) {
  return comparable(text).split(/\s+/).filter(Boolean);
}

// "January 2023" for "2023-01".
export function monthText(month) {
  const options = { month: "long", year: "numeric", timeZone: "UTC" };
  return new Date(`${month}-01`).toLocaleDateString("en-GB", options);
}

export function dateText(at) {
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "long" });
}

export function isToday(at) {
  return new Date(at).toDateString() === new Date().toDateString();
}

export function timeOfDay(at) {
  const date = new Date(at);
  return `at ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function whenText(at) {
  return isToday(at) ? timeOfDay(at) : `on ${dateText(at)} ${timeOfDay(at)}`;
}
