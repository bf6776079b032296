// The title of an event until a person gives it a better one.

const PARTS_OF_DAY = [
  [5, "Night"],
  [8, "Early morning"],
  [11, "Morning"],
  [14, "Midday"],
  [18, "Afternoon"],
  [22, "Evening"],
  [24, "Night"],
];
const LONG = 10 * 60; // seconds; the title of a longer event says how long it was
const SOON = 3600; // seconds, within which an event is "after" the one before it

function partOfDay(time) {
  const hour = (((time / 3600) % 24) + 24) % 24;
  return PARTS_OF_DAY.find(([until]) => hour < until)[1];
}

// "40 minutes", "2½ hours".
function roughDuration(seconds) {
  const minutes = 5 * Math.round(seconds / 300);
  if (minutes < 90) return `${minutes} minutes`;
  const halves = Math.round(seconds / 1800);
  return `${halves >> 1}${halves % 2 ? "½" : ""} hours`;
}

// The place that a person named and the time spent there; else the event before, if that has a name
// and ended not long ago; else the part of the day, with the town. Null if nothing of it is known.
//   start, stop: seconds on a wall clock; place, town: names
//   before: the event before it, { name, stop }
export function automaticTitle({ start, stop, place = null, town = null, before = null }) {
  const seconds = start === null || stop === null ? 0 : stop - start;
  if (place !== null) return seconds >= LONG ? `${place}, ${roughDuration(seconds)}` : place;
  if (start === null) return town;
  if (before?.name && before.stop !== null && start >= before.stop && start - before.stop <= SOON)
    return `After ${before.name}`;
  return town === null ? partOfDay(start) : `${partOfDay(start)} in ${town}`;
}
