// The events as rows. A row is reused as long as its event does not change, so its pictures are not
// reloaded.

import { make, makeButton, moveWithArrows } from "./elements.js";
import { edit, events, replaced, titleOf } from "./events.js";
import {
  clockText,
  countText,
  dayAt,
  dayText,
  durationText,
  eventDuration,
  eventSpanText,
  isWall,
  original,
  pauseBefore,
  pictures,
  thing,
  times,
} from "./frames.js";
import { lanes } from "./lanes.js";
import { canMark, shownFrames, isEventHidden, isFavorite, isHidden, keyFrame } from "./marks.js";
import { badge, frameButton, movie, pictureOf } from "./pictures.js";
import { chosen, colorClass, contextTag, isShown, refreshContext, shownTitle } from "./places.js";
import { canTellStory } from "./story.js";
import { suggestionFor } from "./suggestions.js";
import { hasTalk, spokenIn } from "./talk.js";
import { plural } from "./text.js";

const SAMPLE = 12;
export const CHUNK = 240;
const REASONS = {
  content: "Visual change",
  pause: "After a pause",
  both: "After a pause, visual change",
  date: "Another date",
  required: "Set by you",
};
const hasDays = lanes.length > 1 ? isWall : new Set(original.dates ?? []).size > 1;
const rowOf = new WeakMap();
const nearby = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) fillRow(entry.target);
  },
  { rootMargin: "900px 0px" },
);

// The frames of an event that have a picture, or all if none has.
function framesToShow(event) {
  const frames = shownFrames(event);
  const own = frames.filter((frame) => pictures[frame]);
  return own.length > 0 ? own : frames;
}

function sampled(frames) {
  if (frames.length <= SAMPLE) return frames;
  return Array.from(
    { length: SAMPLE - 1 },
    (_, i) => frames[Math.floor((i * frames.length) / (SAMPLE - 1))],
  );
}

export function fillRow(row) {
  nearby.unobserve(row);
  const strip = row.querySelector(".strip");
  if (strip === null || strip.childElementCount > 0) return;
  const { event } = row;
  const frames = framesToShow(event);
  const shown = sampled(frames);
  strip.append(...shown.map((frame) => frameButton(frame)));
  if (shown.length < frames.length) {
    const text = `+${(frames.length - shown.length).toLocaleString("en-GB")}`;
    const label = `${text}: show all ${plural(frames.length, thing)}`;
    strip.append(moreButton(label, text, () => showAll(strip, frames, 0)));
  }
  strip.firstElementChild?.setAttribute("tabindex", "0");
}

function moreButton(label, text, action) {
  const about = { class: "thumb more", tabindex: "-1", "aria-label": label };
  return makeButton(about, action, text);
}

// Thousands of frames are added in chunks: laying them all out at once would freeze the page.
function showAll(strip, frames, from) {
  if (from === 0) strip.replaceChildren();
  else strip.lastElementChild.remove();
  const stop = Math.min(frames.length, from + CHUNK);
  const buttons = frames.slice(from, stop).map((frame) => frameButton(frame));
  strip.append(...buttons);
  strip.classList.add("all");
  if (stop < frames.length) {
    const label = `more of ${plural(frames.length, thing)}`;
    strip.append(moreButton(label, "more", () => showAll(strip, frames, stop)));
  }
  buttons[0].tabIndex = 0;
  buttons[0].focus({ preventScroll: true });
}

// A date and a person's boundary are facts.
function isGuess(event) {
  return event.reason !== "required" && event.reason !== "date";
}

function reasonText(event) {
  if (event.reason === "start" || event.start === 0) return null;
  const isSameDay = event.reason === "date" && dayAt(event.start) === dayAt(event.start - 1);
  const isSaid = hasTalk && pictures === null && event.reason === "content";
  const words = isSameDay
    ? "Times not known"
    : isSaid
      ? "Other words"
      : (REASONS[event.reason] ?? null);
  if (event.confidence === null || !isGuess(event)) return words;
  const confidence = `${Math.round(100 * event.confidence)}% confidence`;
  return words === null ? confidence : `${words}, ${confidence}`;
}

function fillMeta(meta, event) {
  meta.append(make("span", { class: "number" }));
  if (event.community !== null) meta.append(contextTag(event));
  meta.append(make("span", { class: "count" }));
  const reason = reasonText(event);
  if (reason !== null) {
    const why = make("span", { class: "why", title: "Why this event begins here" });
    if (event.confidence !== null && isGuess(event)) {
      const level = make("span", { class: "level" });
      level.style.width = `${Math.round(100 * event.confidence)}%`;
      why.append(make("span", { class: "meter", "aria-hidden": "true" }, level));
    }
    why.append(reason);
    meta.append(why);
  }
  // No link to a map: it would tell others where the photos were taken.
  if (event.location) {
    const degrees = event.location.map((angle) => angle.toFixed(4)).join(", ");
    const town = [event.town, event.country].filter(Boolean).join(", ");
    if (town) meta.append(make("span", { class: "town", dir: "auto" }, town));
    meta.append(make("span", { class: "location", title: "Latitude and longitude" }, degrees));
  }
}

function fillTimes(row, event) {
  const duration = eventDuration(event);
  const isTimed = event.start_time !== null;
  const withoutClock = original.times === null && !original.dates;
  const first = isTimed ? clockText(event.start_time) : withoutClock ? String(event.start) : "";
  const last = isTimed ? clockText(event.stop_time) : withoutClock ? String(event.stop - 1) : "";
  row.querySelector(".from").textContent = first;
  if (last === first) row.querySelector(".to").remove();
  else row.querySelector(".to").textContent = `– ${last}`;
  if (duration) row.querySelector(".long").textContent = durationText(duration);
  else if (!isTimed && !withoutClock) row.querySelector(".long").textContent = "No time";
  else row.querySelector(".long").remove();
}

function makeRow(event, index) {
  const row = document.getElementById("event-row").content.firstElementChild.cloneNode(true);
  row.classList.add(...colorClass(event, index).split(" "));
  row.event = event;
  fillTimes(row, event);
  fillMeta(row.querySelector(".meta"), event);
  row.querySelector(".name").value = event.name ?? "";
  if (!canTellStory && (movie === null || times === null))
    row.querySelector('[data-action="play"]').remove();

  if (!canMark) row.querySelector('[data-action="hide"]').remove();
  if (pictures === null) row.querySelector(".strip").remove();
  else moveWithArrows(row.querySelector(".strip"));
  if (hasTalk) row.querySelector(".body").append(spokenIn(event));
  return row;
}

// The row in whose name field the person is typing; null if there is none.
export function typedRow() {
  const field = document.activeElement;
  const row = field?.matches?.(".event .name") ? field.closest(".event") : null;
  return row !== null && field.value !== row.shown ? row : null;
}

// Updates what depends on favorites and hidden photos.
function markRow(row) {
  const { event } = row;
  const frames = shownFrames(event);
  const marks = JSON.stringify([
    keyFrame(event),
    frames.length,
    frames.filter((frame) => isFavorite(frame) || isHidden(frame)),
    frames.filter(isHidden),
  ]);
  if (row.marks === marks) return;
  const isFilled = row.querySelector(".strip")?.childElementCount > 0;
  row.marks = marks;
  row.classList.toggle("hidden-event", isEventHidden(event));
  row.querySelector(".count").textContent = countText(frames);
  const key = row.querySelector(".key");
  key.dataset.frame = String(keyFrame(event));
  key.replaceChildren(pictureOf(keyFrame(event), "key-picture"), badge(keyFrame(event)));
  const hide = row.querySelector('[data-action="hide"]');
  if (hide !== null) {
    hide.textContent = isEventHidden(event) ? "Unhide" : "Hide";
    hide.setAttribute("aria-label", `${hide.textContent} this event`);
  }
  if (!isFilled) return;
  row.querySelector(".strip").replaceChildren();
  fillRow(row);
}

// Updates what depends on other events: the number, and whether the event can be merged or split.
function numberRow(row, index) {
  const { event } = row;
  const title = titleOf(index);
  row.dataset.event = String(index);
  refreshContext(row, index);
  markRow(row);
  const name = row.querySelector(".name");
  // What is being typed stays, whatever renders the page, such as a save that ends; it is the name
  // once it is finished.
  if (row !== typedRow() && name.value !== (event.name ?? "")) name.value = event.name ?? "";
  if (name.value === (event.name ?? "")) row.shown = name.value;
  name.placeholder = shownTitle(index);
  row.querySelector(".number").textContent =
    name.placeholder === `Event ${index + 1}` ? "" : `Event ${index + 1}`;
  name.setAttribute("aria-label", `Name of event ${index + 1}, ${eventSpanText(event)}`);
  const suggestion = suggestionFor(event);
  const button = row.querySelector(".suggestion");
  button.hidden = suggestion === null;
  button.textContent = suggestion === null ? "" : `Name it “${suggestion}”`;
  row.querySelector(".key").setAttribute("aria-label", `Enlarge the key ${thing} of ${title}`);
  row
    .querySelector(".strip")
    ?.setAttribute("aria-label", `${plural(shownFrames(event).length, thing)} of ${title}`);
  row.querySelector('[data-action="merge"]').hidden = index === 0;
  row.querySelector('[data-action="move"]').hidden =
    index === 0 || events[index - 1].stop - events[index - 1].start + event.stop - event.start < 3;
  row.querySelector('[data-action="split"]').hidden = event.stop - event.start < 2;
}

// What is shown above a row: a pause of the camera, or a new day.
function separators(row, index) {
  const { event } = row;
  const pause = index > 0 ? pauseBefore(event.start) : 0;
  const newDay = hasDays && (index === 0 || dayAt(event.start) !== dayAt(events[index - 1].start));
  const key = `${pause} ${newDay}`;
  if (row.separatorKey !== key) {
    row.separatorKey = key;
    row.separators = [];
    if (pause && !newDay)
      row.separators.push(
        make(
          "li",
          { class: "pause" },
          make("span", {}, `${isWall ? `No ${thing}s for` : "Nothing for"} ${durationText(pause)}`),
        ),
      );
    if (newDay)
      row.separators.push(
        make("li", { class: "new-day" }, make("h3", {}, dayText(dayAt(event.start)))),
      );
  }
  return row.separators;
}

function rowFor(event, index) {
  let row = rowOf.get(event);
  if (row === undefined) {
    row = makeRow(event, index);
    rowOf.set(event, row);
    nearby.observe(row);
  }
  row.event = event;
  numberRow(row, index);
  return row;
}

// Only changes what differs, so that focus, scroll position and a click in progress survive.
export function renderRows() {
  const list = document.getElementById("events");
  const children = [];
  events.forEach((event, index) => {
    if (!isShown(event)) return;
    const row = rowFor(event, index);
    if (chosen.size === 0) children.push(...separators(row, index));
    children.push(row);
  });
  const wanted = new Set(children);
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove();
  let next = list.firstChild;
  for (const child of children) {
    if (child === next) next = next.nextSibling;
    else list.insertBefore(child, next);
  }
}

export function rename(event, text) {
  const index = events.indexOf(event);
  const name = text.trim() || null;
  if (index < 0 || name === event.name) return;
  const renamed = { ...event, name };
  rowOf.set(renamed, rowOf.get(event)); // keeps the row, with the focus in it
  edit({ events: replaced(index, 1, renamed) }, name === null ? "Name removed" : `Named ${name}`);
}

// What is being typed becomes part of the state, without waiting until the person leaves the field.
export function finishTyping() {
  const field = document.activeElement;
  if (!field?.matches?.("input")) return;
  field.blur();
  field.focus({ preventScroll: true });
}

export function focusRow(index) {
  const row = document.querySelector(`.event[data-event="${index}"]`);
  if (row === null) return;
  row.scrollIntoView({ block: "nearest" });
  row.querySelector(".name").focus({ preventScroll: true });
}
