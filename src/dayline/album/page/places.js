// Places: contexts with their names or letters, colors, the filter by them, and the dialog that
// names them. Letters do not change while the person edits.

import { make, makeButton } from "./elements.js";
import {
  edit,
  events,
  newContext,
  ownTown,
  places,
  refresh,
  replaced,
  state,
  spokenTitle,
  titleOf,
} from "./events.js";
import { data, durationText, eventDuration, eventSpanText, isWall, thing } from "./frames.js";
import { isEventHidden, isEventLeftOut, keyFrame } from "./marks.js";
import { pictureOf } from "./pictures.js";
import { hasTalk } from "./talk.js";
import { letters, plural } from "./text.js";
import { automaticTitle } from "./titles.js";

const N_COLORS = 12;
const contextRanks = new Map();
const contextLetters = new Map();
let nRanks = data.album ? Object.keys(data.album.places).length : 0;
let nLetters = data.album?.n_letters ?? 0;
export const chosen = new Set();
const ONCE = "once";
let contextOf = new Map();
export let contextGroups = new Map(); // the events of every context

function placeOf(community) {
  return places.find((place) => place.community === community) ?? null;
}

export function placeName(community) {
  return placeOf(community)?.name?.trim() || null;
}

// What the album says of a context: its label and color.
function inAlbum(context) {
  return data.album?.places[context] ?? null;
}

// Contexts with one name are one place, and so are unnamed ones that were recognized as the same
// place: each context is represented by the first of them.
export function groupContexts() {
  contextOf = new Map();
  const first = new Map();
  for (const { community } of events) {
    if (community === null || contextOf.has(community)) continue;
    const name = placeName(community);
    const id = placeOf(community)?.id ?? null;
    const mark = name !== null ? `name ${name}` : id !== null ? `id ${id}` : null;
    if (mark !== null && !first.has(mark)) first.set(mark, community);
    contextOf.set(community, mark === null ? community : first.get(mark));
  }
  contextGroups = new Map();
  for (const event of events) {
    if (event.community === null || isEventLeftOut(event)) continue;
    const context = contextOf.get(event.community);
    if (!contextGroups.has(context)) contextGroups.set(context, []);
    contextGroups.get(context).push(event);
  }
  rankContexts();
}

function framesIn(list) {
  return list.reduce((sum, event) => sum + event.stop - event.start, 0);
}

// Contexts have the letters and colors of the album, if the day is in one. Other recurring contexts
// without a name have letters in order of first appearance, as in the exports; colors are assigned
// to recurring and named contexts first, longest first.
function rankContexts() {
  for (const [context, list] of contextGroups) {
    const known = inAlbum(context);
    if (known !== null && !contextRanks.has(context)) contextRanks.set(context, known.color);
    if (placeName(context) !== null || contextLetters.has(context)) continue;
    if (known !== null && !known.named) contextLetters.set(context, known.label);
    else if (list.length > 1) contextLetters.set(context, `Place ${letters(nLetters++)}`);
  }
  const matters = ([context, list]) => (list.length > 1 || placeName(context) !== null ? 1 : 0);
  const others = [...contextGroups].filter(([context]) => !contextRanks.has(context));
  others.sort((a, b) => matters(b) - matters(a) || framesIn(b[1]) - framesIn(a[1]));
  for (const [context, list] of others)
    if (!data.album || matters([context, list])) contextRanks.set(context, nRanks++);
}

// The name of a context, or its letter; null if it occurs only once and has no name.
export function contextLabel(community) {
  const context = contextOf.get(community);
  const name = placeName(context);
  if (name !== null) return name;
  const recurs = (contextGroups.get(context)?.length ?? 0) > 1 || inAlbum(context) !== null;
  return recurs ? contextLetters.get(context) : null;
}

// What people see an event called: its name, or a title made from what is known of it.
export function shownTitle(index) {
  const { name, community, start_time: start, stop_time: stop } = events[index];
  const own = name ?? spokenTitle(events[index]);
  if (own !== null) return own;
  const before = events[index - 1] ?? null;
  const title = automaticTitle({
    start: isWall ? start : null,
    stop,
    place: community === null ? null : placeName(contextOf.get(community)),
    town: ownTown(events[index]),
    before: before && !isEventHidden(before) && { name: before.name, stop: before.stop_time },
  });
  return title ?? titleOf(index);
}

export function colorClass(event, index) {
  const rank = contextRanks.get(contextOf.get(event.community));
  if (rank === undefined && hasTalk) return `c${index % N_COLORS}`;
  if (rank === undefined) return index % 2 ? "c-none odd" : "c-none";
  return `c${rank % N_COLORS}`;
}

// What the filter calls the context of an event: contexts seen once share a chip.
function chipOf(event) {
  return contextLabel(event.community) === null ? ONCE : contextOf.get(event.community);
}

export function isShown(event) {
  if (isEventLeftOut(event)) return false;
  if (chosen.size === 0) return true;
  return event.community !== null && chosen.has(chipOf(event));
}

function toggleContext(which) {
  if (!chosen.delete(which)) chosen.add(which);
  refresh(chosen.size ? "Events filtered" : "All events shown");
}

export function showAllEvents() {
  chosen.clear();
  refresh("All events shown");
}

function timeIn(list) {
  const durations = list.map(eventDuration);
  return durations.includes(null)
    ? plural(framesIn(list), thing)
    : durationText(durations.reduce((a, b) => a + b, 0));
}

function chip(which, title, list, color) {
  const longest = list.reduce((a, b) => (b.stop - b.start > a.stop - a.start ? b : a));
  const details = [plural(list.length, "event"), timeIn(list)];
  return makeButton(
    {
      class: `chip ${color}`,
      "aria-pressed": String(chosen.has(which)),
      "data-context": String(which),
    },
    () => toggleContext(which),
    pictureOf(keyFrame(longest), "chip-picture"),
    make(
      "span",
      { class: "chip-text" },
      make(
        "span",
        { class: "chip-title" },
        make("span", { class: "dot", "aria-hidden": "true" }),
        make("span", { dir: "auto" }, title),
      ),
      make("span", { class: "chip-detail" }, details.join(" · ")),
    ),
  );
}

export function renderContexts() {
  const box = document.getElementById("chips");
  const once = [];
  const chips = [];
  for (const [context, list] of contextGroups) {
    const label = contextLabel(context);
    if (label === null) {
      once.push(...list);
      continue;
    }
    chips.push(
      make(
        "span",
        { class: "chip-box" },
        chip(context, label, list, colorClass(list[0], 0)),
        placeButton(label, () => openPlaceDialog(context, null)),
      ),
    );
  }

  const recurring = chips.length;
  for (const which of chosen) {
    if (which === ONCE ? once.length === 0 : !contextGroups.has(which)) chosen.delete(which);
  }

  if (recurring > 0 && once.length > 0) chips.push(chip(ONCE, "Seen once", once, "c-none"));
  if (chosen.size > 0) {
    chips.push(
      makeButton({ class: "quiet", id: "show-all-events" }, showAllEvents, "Show all events"),
    );
  }

  const focused = document.activeElement?.dataset?.context;
  box.replaceChildren(...chips);
  if (focused !== undefined) box.querySelector(`[data-context="${focused}"]`)?.focus();
  document.getElementById("contexts").hidden = recurring === 0;
}

const placeDialog = document.getElementById("place");
const placeInput = placeDialog.querySelector(".place-input");
const placeScope = document.getElementById("place-scope");
let placeNamed = { context: null, event: null }; // what the dialog is about

function placeButton(label, action) {
  const name = label === null || contextIsLetter(label) ? "Name" : "Rename";
  const what = label ?? "this place";
  return makeButton({ class: "place-button", "aria-label": `${name} ${what}` }, action, name);
}

function contextIsLetter(label) {
  return (
    [...contextLetters.values()].includes(label) &&
    !places.some((place) => place.name?.trim() === label)
  );
}

export function contextTag(event) {
  const filter = () => toggleContext(chipOf(event));
  const tag = makeButton(
    { class: "tag", title: "Show only events like this" },
    filter,
    make("span", { class: "dot", "aria-hidden": "true" }),
    make("span", { class: "tag-text", dir: "auto" }),
  );
  return make("span", { class: "tag-box" }, tag, make("span", { class: "tag-name" }));
}

// Updates what depends on the names of places; rows are reused while their events stay the same.
export function refreshContext(row, index) {
  const { event } = row;
  const color = colorClass(event, index).split(" ");
  for (const name of [...row.classList])
    if (/^(c\d+|c-none|odd)$/.test(name)) row.classList.remove(name);
  row.classList.add(...color);
  const text = row.querySelector(".tag-text");
  if (text === null) return;
  const label = contextLabel(event.community);
  const shown = label ?? "Seen once";
  if (text.textContent === shown) return;
  text.textContent = shown;
  row
    .querySelector(".tag-name")
    .replaceChildren(
      placeButton(label, () => openPlaceDialog(contextOf.get(row.event.community), row.event)),
    );
}

function openPlaceDialog(context, event) {
  placeNamed = { context, event };
  const list = contextGroups.get(context);
  const label = contextLabel(context);
  const longest = event ?? list.reduce((a, b) => (b.stop - b.start > a.stop - a.start ? b : a));
  document.getElementById("place-title").textContent =
    label === null
      ? "Name this place"
      : contextIsLetter(label)
        ? `Name ${label}`
        : `Rename ${label}`;
  placeDialog
    .querySelector(".place-picture")
    .replaceWith(pictureOf(keyFrame(longest), "place-picture", "eager"));

  placeInput.defaultValue = placeName(context) ?? "";
  placeInput.value = placeInput.defaultValue;
  const names = new Set(places.map((place) => place.name?.trim()).filter(Boolean));
  document
    .getElementById("place-list")
    .replaceChildren(...[...names].map((name) => make("option", { value: name })));

  placeScope.hidden = event === null || list.length < 2;
  placeScope.querySelector('[value="all"]').checked = true;
  document.getElementById("place-all").textContent = `all ${plural(list.length, "event")} here`;
  document.getElementById("place-one").textContent =
    event === null ? "" : `this event only, ${eventSpanText(event)}`;

  placeDialog.showModal();
  placeInput.focus();
  placeInput.select();
}

// Also for Ctrl+S, which saves what the person sees.
export function finishPlace() {
  if (!placeDialog.open) return;
  const only = !placeScope.hidden && placeScope.querySelector('[value="one"]').checked;
  placeDialog.close();
  if (only) moveToPlace(placeNamed.event, placeInput.value);
  else namePlace(placeNamed.context, placeInput.value);
}

document.getElementById("place-save").addEventListener("click", finishPlace);
document.getElementById("place-cancel").addEventListener("click", () => placeDialog.close());
placeInput.addEventListener("keydown", (e) => {
  if (e.key !== "Enter") return;
  e.preventDefault();
  finishPlace();
});

// Whether closing the page now would lose a name in the dialog.
export function placeIsTyped() {
  return placeDialog.open && placeInput.value.trim() !== placeInput.defaultValue;
}

function withNamed(list, community, name) {
  const old = list.find((place) => place.community === community);
  const next = { community, name, id: old?.id ?? null };
  if (old !== undefined) return list.map((place) => (place === old ? next : place));
  return name === null ? list : [...list, next];
}

// Names all contexts that are one place.
function namePlace(context, text) {
  const name = text.trim() || null;
  if (name === placeName(context)) return;
  const shown = name === null ? "Name removed" : `Named ${name}`;
  const next = [...contextOf]
    .filter(([, first]) => first === context)
    .reduce((list, [community]) => withNamed(list, community, name), places);
  edit({ places: next }, shown);
}

// Moves one event to the place with this name, or to a new one.
function moveToPlace(event, text) {
  const name = text.trim();
  const index = events.indexOf(event);
  if (name === "" || index < 0 || name === placeName(event.community)) return;
  const known = events.find(
    (other) => other.community !== null && placeName(other.community) === name,
  )?.community;
  const community = known ?? newContext(state);
  edit(
    {
      events: replaced(index, 1, { ...event, community }),
      places: withNamed(places, community, name),
    },
    `${titleOf(index)} moved to ${name}`,
  );
}
