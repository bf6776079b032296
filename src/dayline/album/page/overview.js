// The page of many days: calendar, time per place, timelines of the days, search, and events that
// look alike.

import { make, moveWithArrows, onKey } from "./elements.js";
import { comparable, monthText, plural, two, wordsIn } from "./text.js";
import { automaticTitle } from "./titles.js";
import { renderDayNames, renderTrips, tripText } from "./trips.js";

const N_COLORS = 12;
const MOST_RESULTS = 120;
const SHOWN_PLACES = 12;
const data = JSON.parse(document.getElementById("data").textContent);
const days = data.days.map((day, index) => (day === null ? null : { ...day, index, list: [] }));
const events = days.flatMap((day) =>
  day === null
    ? []
    : day.events.map(([name, place, frames, start, stop, picture, similar, town], number) => ({
        day,
        number,
        name,
        place,
        frames,
        start,
        stop,
        picture,
        similar,
        town: data.towns[town]?.[0] ?? null,
        where: data.towns[town]?.filter(Boolean).join(", ") ?? null,
      })),
);
for (const event of events) {
  const { list } = event.day;
  const before = list.at(-1);
  event.first = before === undefined ? 0 : before.first + before.frames;
  list.push(event);
  if (event.town !== null) (event.day.towns ??= new Set()).add(event.town);
}
const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

function clockText(seconds, clock) {
  if (clock === "media")
    return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(Math.floor(seconds) % 60)}`;
  const ofDay = ((seconds % 86400) + 86400) % 86400;
  return `${two(Math.floor(ofDay / 3600))}:${two(Math.floor(ofDay / 60) % 60)}`;
}

function hoursText(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes < 6000 && minutes % 60
    ? `${Math.floor(minutes / 60)} h ${minutes % 60} min`
    : `${Math.round(minutes / 60).toLocaleString("en-GB")} h`;
}

function secondsOf(event) {
  return event.start === null || event.stop === null ? 0 : Math.max(0, event.stop - event.start);
}

// Places in order of the time spent there.
const places = data.places.map(([label, named, letter], index) => ({
  index,
  label,
  named,
  color: `c${letter % N_COLORS}`,
  seconds: 0,
  frames: 0,
  days: new Set(),
  months: new Map(),
}));
for (const event of events) {
  if (event.place < 0) continue;
  const place = places[event.place];
  place.seconds += secondsOf(event);
  place.frames += event.frames;
  place.days.add(event.day.index);
  const month = event.day.date?.slice(0, 7) ?? "";
  place.months.set(month, (place.months.get(month) ?? 0) + secondsOf(event));
}
const inTable = places.filter((place) => place.named || place.days.size > 1);

function labelOf(event) {
  return event.place < 0 ? null : places[event.place].label;
}

function colorOf(event) {
  return event.place < 0 ? (event.number % 2 ? "c-none odd" : "c-none") : places[event.place].color;
}

function titleOf(event) {
  const { day, number, start, stop, place, town } = event;
  const title = automaticTitle({
    start: day.clock === "wall" ? start : null,
    stop,
    place: places[place]?.named ? places[place].label : null,
    // Of a day in one town, it says nothing about an event.
    town: day.towns?.size > 1 ? town : null,
    before: day.list[number - 1] ?? null,
  });
  return event.name ?? title ?? `Event ${number + 1}`;
}

function whenOf(event) {
  const span =
    event.start === null
      ? ""
      : ` · ${clockText(event.start, event.day.clock)}–${clockText(event.stop, event.day.clock)}`;
  const town = event.where === null ? "" : ` · ${event.where}`;
  return `${event.day.name}${span}${town}`;
}

function addressOf(event) {
  const number = event.day.event_numbers?.[event.number] ?? event.number + 1;
  return `${event.day.folder}/index.html#event-${number}`;
}

// A copy of a template.
function copyOf(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

// One event with its picture; the link leads to it on the page of its day, or to one of its photos.
function card(event, photo = null) {
  const box = copyOf("card");
  box.classList.add(...colorOf(event).split(" "));
  if (event.picture !== null) {
    const src = `${event.day.folder}/${event.picture}`;
    const about = { class: "card-picture", alt: "", loading: "lazy", decoding: "async", src };
    box.querySelector(".card-picture").replaceWith(make("img", about));
  }

  const link = box.querySelector("a");
  const file = photo === null ? undefined : event.day.files[photo];
  const number = event.day.photo_numbers?.[photo] ?? photo + 1;
  link.href = photo === null ? addressOf(event) : `${event.day.folder}/index.html#photo-${number}`;
  link.textContent = file ?? titleOf(event);
  box.querySelector(".soft").textContent = whenOf(event);

  if (labelOf(event) === null) box.querySelector(".place").remove();
  else box.querySelector(".place-text").textContent = labelOf(event);
  const more = box.querySelector(".more");
  more.setAttribute("aria-label", `More like this: ${titleOf(event)}, ${whenOf(event)}`);
  more.addEventListener("click", () => showEvent(event));
  if (event.similar.length === 0) more.remove();
  return box;
}

const dialog = document.getElementById("event");
dialog.querySelector(".close").addEventListener("click", () => dialog.close());

function showEvent(event) {
  const similar = event.similar.map((index) => events[index]);
  document.getElementById("event-title").textContent = titleOf(event);
  dialog.querySelector(".card").replaceWith(card({ ...event, similar: [] }));
  dialog.querySelector("h3").textContent = similar.length
    ? "More like this"
    : "No other event was compared with it";
  dialog.querySelector(".cards").replaceChildren(...similar.map((other) => card(other)));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function photosOf(day) {
  return day.list.reduce((sum, event) => sum + event.frames, 0);
}

// Calendar: one block per month, darker for more photos.
function calendar() {
  const dated = days.filter((day) => day?.date);
  const box = document.getElementById("calendar");
  if (dated.length < 2) return;
  const byDate = new Map();
  for (const day of dated) byDate.set(day.date, [...(byDate.get(day.date) ?? []), day]);

  const counts = [...byDate.values()]
    .map((list) => list.reduce((sum, day) => sum + photosOf(day), 0))
    .sort((a, b) => a - b);
  const level = (count) =>
    Math.min(
      4,
      1 + Math.floor((4 * counts.filter((other) => other < count).length) / counts.length),
    );
  const months = [...new Set(dated.map((day) => day.date.slice(0, 7)))].sort();

  const grid = make("div", { class: "months" });
  for (const month of months) grid.append(monthBox(month, byDate, level));
  grid.querySelector("a").tabIndex = 0;
  moveWithArrows(grid, { selector: "a", columns: 7 });
  box.append(grid);
  box.hidden = false;
}

function monthBox(month, byDate, level) {
  const [year, number] = month.split("-").map(Number);
  const name = monthText(month);
  const first = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7;
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const cells = WEEKDAYS.map((day) =>
    make("span", { class: "weekday", "aria-hidden": "true" }, day[0]),
  );

  for (let date = 1; date <= length; date += 1) {
    const list = byDate.get(`${month}-${two(date)}`);
    let cell;
    if (list === undefined)
      cell = make("span", { class: "date", "aria-hidden": "true" }, String(date));
    else {
      const count = list.reduce((sum, day) => sum + photosOf(day), 0);
      const n = list.reduce((sum, day) => sum + day.list.length, 0);
      const label = `${date} ${name}: ${plural(count, "photo")}, ${plural(n, "event")}`;
      cell = make(
        "a",
        {
          class: `date level${level(count)}`,
          href: `#day-${list[0].index + 1}`,
          title: label,
          "aria-label": label,
          tabindex: "-1",
        },
        String(date),
      );
    }
    if (date === 1) cell.style.gridColumnStart = String(first + 1);
    cells.push(cell);
  }

  return make(
    "div",
    { class: "month", role: "group", "aria-label": name },
    make("h3", {}, name),
    make("div", { class: "dates" }, ...cells),
  );
}

function amountOf(place, timed) {
  return timed ? place.seconds : place.frames;
}

// Time per place: a bar for all days, and one per month.
function placeBars() {
  const shown = inTable;
  const box = document.getElementById("places");
  if (shown.length === 0) return;
  const months = [
    ...new Set(days.filter((day) => day?.date).map((day) => day.date.slice(0, 7))),
  ].sort();
  const timed = shown[0].seconds > 0;
  const most = Math.max(...shown.map((place) => amountOf(place, timed)));
  const mostInMonth = Math.max(1, ...shown.flatMap((place) => [...place.months.values()]));

  const rows = shown.map((place) => placeRow(place, { timed, months, most, mostInMonth }));
  box.querySelector("tbody").append(...rows);
  document.getElementById("amount").textContent = timed ? "Time" : "Photos";
  if (!timed || months.length < 2)
    for (const cell of box.querySelectorAll(".months-cell")) cell.remove();

  const all = document.getElementById("all-places");
  const others = rows.slice(SHOWN_PLACES);
  for (const row of others) row.hidden = true;
  all.hidden = others.length === 0;
  all.textContent = `Show all ${rows.length} places`;
  all.addEventListener("click", () => {
    for (const row of others) row.hidden = false;
    all.remove();
  });
  box.hidden = false;
}

function placeRow(place, { timed, months, most, mostInMonth }) {
  const row = copyOf("place-row");
  row.classList.add(place.color);
  row.querySelector(".place-text").textContent = place.label;
  row.querySelector(".place-name").addEventListener("click", () => searchPlace(place));
  const share = (100 * amountOf(place, timed)) / most;
  row.querySelector(".bar").style.width = `${Math.max(0.5, share)}%`;
  row.querySelector(".amount").textContent = timed
    ? hoursText(place.seconds)
    : plural(place.frames, "photo");
  row.querySelector(".days").textContent = plural(place.days.size, "day");

  for (const month of months) {
    const seconds = place.months.get(month) ?? 0;
    const text = `${monthText(month)}: ${hoursText(seconds)}`;
    const fill = make("span", { class: "fill" });
    fill.style.height = `${(100 * seconds) / mostInMonth}%`;
    row
      .querySelector(".by-month")
      .append(
        make(
          "span",
          { class: "column", title: text },
          fill,
          make("span", { class: "unseen" }, `${text}; `),
        ),
      );
  }
  return row;
}

// Timelines of the days, all on the same hours, so that mornings stand above mornings.
function timelines() {
  const ofDay = (day) => (day.date ? Date.parse(`${day.date}T00:00:00Z`) / 1000 : 0);
  const timed = (day) => day.list.filter((event) => event.start !== null);
  const earliestOf = (day) => timed(day)[0].start - ofDay(day);
  const latestOf = (day) => timed(day).at(-1).stop - ofDay(day);
  const wall = days.filter(
    (day) => day?.clock === "wall" && timed(day).length > 0 && latestOf(day) <= 2 * 86400,
  );
  const earliest = Math.min(...wall.map(earliestOf));
  const latest = Math.max(...wall.map(latestOf));
  const [from, to] = [Math.floor(earliest / 3600) * 3600, Math.ceil((latest + 1) / 3600) * 3600];

  for (const day of days) {
    if (day === null || day.list.length === 0) continue;
    const row = document.getElementById(`day-${day.index + 1}`);
    const n = photosOf(day);
    const onHours = wall.includes(day);
    let before = 0;
    const band = make("div", { class: "band", "aria-hidden": "true" });
    for (const event of onHours ? timed(day) : day.list) {
      const [left, width] = onHours
        ? [(event.start - ofDay(day) - from) / (to - from), secondsOf(event) / (to - from)]
        : [before / n, event.frames / n];
      before += event.frames;
      const piece = make("span", {
        class: `piece ${colorOf(event)}`,
        title: [titleOf(event), labelOf(event), whenOf(event)].filter(Boolean).join(" · "),
      });
      piece.style.left = `${100 * left}%`;
      piece.style.width = `${100 * width}%`;
      piece.addEventListener("click", () => showEvent(event));
      band.append(piece);
    }

    const list = make("details", { class: "events" }, make("summary", {}, "Events"));
    list.addEventListener("toggle", () => {
      if (list.open && list.childElementCount === 1)
        list.append(make("div", { class: "cards" }, ...day.list.map((event) => card(event))));
    });
    const pictures = [...row.querySelectorAll(".pictures a")];
    for (const picture of pictures.slice(1)) picture.tabIndex = -1;
    moveWithArrows(row.querySelector(".pictures"), { selector: "a" });
    row.querySelector(".pictures").after(make("div", { class: "tools" }, band, list));
  }
}

const field = document.getElementById("search");
const found = document.getElementById("found");
// What a search looks at: names, and for longer words also the names of files, so that "img" does
// not find everything while a person types.
const SHORTEST_FILE_WORD = 4;
const texts = events.map((event) =>
  comparable(
    [
      titleOf(event),
      labelOf(event) ?? "",
      event.where ?? "",
      tripText(data, event.day.index),
      event.day.name,
      data.named[event.day.index] ?? "",
      ...event.day.entries,
      decodeURIComponent(safe(event.day.folder)),
    ].join(" "),
  ),
);
const files = events.map((event) =>
  comparable((event.day.files ?? []).slice(event.first, event.first + event.frames).join("\n")),
);

// What is found of a day besides its events: its date, entries of the calendar, and files that were
// set aside, such as screenshots.
const rowTexts = days.map((day, index) => {
  const heading = document.querySelector(`#day-${index + 1} h3`).textContent;
  return comparable([heading, data.named[index] ?? "", ...(day?.entries ?? [])].join(" "));
});
const asideTexts = days.map((day) =>
  (day?.aside ?? []).map(([kind, name]) => comparable(`${kind} ${name}`)),
);

// Says how many of the files that were set aside on a day are meant, with a link to them.
function showAside(row, day, words) {
  row.querySelector(".found-aside")?.remove();
  if (words.length === 0 || chosenPlace !== null) return 0;
  const fits = (text) => words.every((word) => text.includes(word));
  const names = (day?.aside ?? []).filter((_, k) => fits(asideTexts[day.index][k]));
  if (names.length === 0) return 0;
  const what = names.length === 1 ? names[0][1] : plural(names.length, "file");
  const link = make("a", { href: `${day.folder}/index.html#aside` }, what);
  row.append(make("p", { class: "soft found-aside", dir: "auto" }, "Set aside: ", link));
  return names.length;
}

// The photo of an event whose file a search means; null if it means the event.
function photoFound(event, words) {
  const index = events.indexOf(event);
  const isOfFile = (word) => word.length >= SHORTEST_FILE_WORD && !texts[index].includes(word);
  const word = words.find((one) => isOfFile(one) && files[index].includes(one));
  if (word === undefined) return null;
  return event.first + files[index].split("\n").findIndex((name) => name.includes(word));
}

// "Place B" is exactly this place and "Event 3" the third event of a day, not all that have these
// letters somewhere; other words may be anywhere. Returns whether an event fits.
function matcher(text) {
  let rest = ` ${wordsIn(text).join(" ")} `;
  const wanted = [];
  const take = (pattern, fits) => {
    rest = rest.replace(pattern, (_, which) => {
      wanted.push((event) => fits(event, which));
      return " ";
    });
  };
  take(
    / place ([a-z]+)(?= )/g,
    (event, letter) => comparable(labelOf(event) ?? "") === `place ${letter}`,
  );
  take(/ event (\d+)(?= )/g, (event, number) => event.number + 1 === Number(number));
  for (const word of wordsIn(rest))
    wanted.push(
      (_, index) =>
        texts[index].includes(word) ||
        (word.length >= SHORTEST_FILE_WORD && files[index].includes(word)),
    );
  return (event, index) => wanted.every((fits) => fits(event, index));
}

function safe(address) {
  // A folder's name may be any bytes; those that are not UTF-8 cannot be decoded.
  try {
    decodeURIComponent(address);
    return address;
  } catch {
    return "";
  }
}

let chosenPlace = null;

function searchPlace(place) {
  field.value = place.label;
  chosenPlace = place;
  search();
  field.focus();
}

function search() {
  const words = wordsIn(field.value);
  // A place that was clicked is exactly this place; typed words may be anywhere in a name.
  if (field.value !== chosenPlace?.label) chosenPlace = null;
  const isMatch =
    chosenPlace !== null ? (event) => event.place === chosenPlace.index : matcher(field.value);
  const matches = words.length ? events.filter(isMatch) : [];

  const box = document.getElementById("results");
  box.hidden = matches.length === 0;
  for (const part of document.querySelectorAll("#calendar, #places, #trips"))
    part.classList.toggle("aside", words.length > 0);

  const shown = new Set(matches.map((event) => event.day.index));
  let nAside = 0;
  document.querySelectorAll("#days > li").forEach((row, index) => {
    const named = chosenPlace === null && words.every((word) => rowTexts[index].includes(word));
    const inDay = showAside(row, days[index], words);
    nAside += inDay;
    if (words.length > 0 && (named || inDay > 0)) shown.add(index);
    row.hidden = words.length > 0 && !shown.has(index);
  });
  document.getElementById("days").parentElement.hidden = words.length > 0 && shown.size === 0;

  const what = [
    matches.length ? plural(matches.length, "event") : "",
    nAside ? `${plural(nAside, "file")} set aside` : "",
  ].filter(Boolean);
  const on = [what.join(" and "), plural(shown.size, "day")].filter(Boolean).join(" on ");
  found.textContent = !words.length ? "" : shown.size ? on : "Nothing found";
  const cards = matches
    .slice(0, MOST_RESULTS)
    .map((event) => card(event, chosenPlace === null ? photoFound(event, words) : null));
  box.replaceChildren(
    make("h2", {}, "Events found"),
    make("div", { class: "cards" }, ...cards),
    matches.length > MOST_RESULTS
      ? make(
          "p",
          { class: "soft" },
          `The first ${MOST_RESULTS} of ${plural(matches.length, "event")}; type more words to see fewer.`,
        )
      : "",
  );
}

// Leaving the search: the calendar leads to days that the search may have hidden.
field.addEventListener("keydown", (e) => {
  if (e.key === "Escape") {
    field.value = "";
    search();
  }
});
// Where this page is now, the page of one day may have been once.
function goToAddress() {
  if (location.hash === "#search") field.focus();

  if (data.moved && /^#(event|photo)-\d+$/.test(location.hash))
    location.replace(data.moved + location.hash);
}

// Pictures of days that are far away are released, loaded or not: a year of them would fill the
// memory. They keep their space, by their width and height.
const nearby = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const wasNear = target.classList.contains("near");
      target.classList.toggle("near", isIntersecting);
      for (const picture of target.querySelectorAll(".pictures img")) {
        if (isIntersecting && picture.dataset.src) picture.src = picture.dataset.src;
        if (wasNear && !isIntersecting) {
          picture.dataset.src ??= picture.getAttribute("src");
          picture.removeAttribute("src");
        }
      }
    }
  },
  { rootMargin: "1500px 0px" },
);
for (const row of document.querySelectorAll("#days > li")) nearby.observe(row);

onKey("/", () => {
  if (document.querySelector("dialog[open]") === null) field.focus();
});
window.addEventListener("hashchange", goToAddress);
renderTrips(data);
renderDayNames(data);
calendar();
placeBars();
timelines();
field.addEventListener("input", search);
field.parentElement.hidden = false; // without scripts there is no search, and no field for it
search(); // browsers keep what was typed when the page is loaded again
goToAddress();
