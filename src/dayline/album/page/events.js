// The events, and what the person edits in them: the parts of events.json that the page may change,
// and the view that they came from (view.js). A state is never changed in place, so undo returns to
// an older one. All modules read `state`, `events` and `places`; only the functions here replace
// them.

import { data, durationOf, frameText, lastUntil, original, thing } from "./frames.js";
import { editedView, firstView } from "./view.js";

export let state = {
  events: original.events,
  places: original.places ?? [],
  view: firstView(original.events),
  favorites: original.favorites ?? [],
  hidden: original.hidden ?? [],
};
export let { events, places } = state; // always those of `state`
export const older = [];
export const newer = [];
let keep = () => {};
let draw = () => {};

// page.js says what keeps the edits in the browser and what draws the page; nothing here depends on
// either.
export function connect(parts) {
  ({ keep, draw } = parts);
}

// Draws the page again; the message is read to people who cannot see it.
export function refresh(message) {
  draw(message);
}

export function eventAt(frame) {
  return lastUntil((index) => events[index].start, 0, events.length, frame);
}

function replaceState(next) {
  state = next;
  ({ events, places } = next);
}

function showState(next, message) {
  replaceState(next);
  keep();
  refresh(message);
}

// Replaces parts of the state, such as { places }.
export function edit(parts, message) {
  const next = { ...state, ...parts };
  if (next.view === state.view) next.view = editedView(state.view, state.events, next.events);
  older.push(state);
  newer.length = 0;
  showState(next, message);
}

// A control moved without any change of the events: there is nothing to undo.
export function moveControl(view, message) {
  state = { ...state, view };
  refresh(message);
}

// Shows a state from elsewhere, such as another tab, which has it stored already.
export function adopt(next) {
  older.push(state);
  newer.length = 0;
  replaceState(next);
}

// What sets the words of an event apart from the rest of the talk; null if nothing is said.
export function spokenTitle({ start, stop }) {
  return data.titles?.[`${start}-${stop}`] ?? null;
}

export function titleOf(index) {
  return events[index].name ?? spokenTitle(events[index]) ?? `Event ${index + 1}`;
}

// The towns of the events, in order, each once.
export function townsOf(list) {
  return [...new Set(list.map((event) => event.town).filter(Boolean))];
}

// Of a day in one town, it says nothing about an event.
export function ownTown(event) {
  return event.town && townsOf(events).length > 1 ? event.town : null;
}

export function mostFrequent(start, stop) {
  const counts = new Map();
  let best = null;
  for (const community of data.communities.slice(start, stop)) {
    counts.set(community, (counts.get(community) ?? 0) + 1);
    if (best === null || counts.get(community) > counts.get(best)) best = community;
  }
  return best;
}

// Whether the person put the event into another context than that of its frames.
export function hasOwnContext(event) {
  return data.communities !== null && event.community !== mostFrequent(event.start, event.stop);
}

export function newContext(current) {
  const used = [...current.events, ...current.places].map(({ community }) => community ?? -1);
  return [...used, ...(data.communities ?? [])].reduce((a, b) => Math.max(a, b), -1) + 1;
}

// The first and the last time of the frames start .. stop-1; null if none of them has one.
export function timeAfter(start, stop) {
  return original.times?.slice(start, stop).find((time) => time !== null) ?? null;
}

// A video lasts until its end.
export function timeBefore(start, stop) {
  const last = original.times?.slice(start, stop).findLast((time) => time !== null) ?? null;
  if (last === null || !original.durations) return last;
  const ends = original.times
    .slice(start, stop)
    .map((time, i) => (time === null ? last : time + (durationOf(start + i) ?? -Infinity)));
  return ends.reduce((a, b) => Math.max(a, b), last);
}

// The event with other edges; everything that depends on its frames is recomputed.
function resized(event, start, stop) {
  const middle = start + ((stop - start) >> 1);
  const keyInside = event.key_frame !== null && start <= event.key_frame && event.key_frame < stop;
  return {
    ...event,
    start,
    stop,
    // An event that the person put into another context stays there.
    community:
      data.communities === null || hasOwnContext(event)
        ? event.community
        : mostFrequent(start, stop),
    key_frame: keyInside || event.key_frame === null ? event.key_frame : middle,
    key_chosen: keyInside && event.key_chosen,
    // An edge that stays keeps its time: at a hard cut of a film, it is exact, between two sampled
    // frames.
    start_time: start === event.start ? event.start_time : timeAfter(start, stop),
    stop_time: stop === event.stop ? event.stop_time : timeBefore(start, stop),
  };
}

function setByPerson(event) {
  return { ...event, reason: "required", confidence: 1, interval: [event.start, event.start] };
}

export function spliced(list, index, count, ...others) {
  return [...list.slice(0, index), ...others, ...list.slice(index + count)];
}

export function replaced(index, count, ...others) {
  return spliced(events, index, count, ...others);
}

export function merged(before, after) {
  const larger = after.stop - after.start > before.stop - before.start ? after : before;
  const keyed =
    before.key_chosen === after.key_chosen ? larger : before.key_chosen ? before : after;
  return {
    ...resized(
      {
        ...before,
        key_frame: keyed.key_frame,
        key_chosen: keyed.key_chosen,
        community: larger.community,
      },
      before.start,
      after.stop,
    ),
    start_time: before.start_time ?? after.start_time,
    stop_time: after.stop_time ?? before.stop_time,
    name: before.name ?? after.name,
  };
}

export function splitInTwo(event, frame) {
  return [
    resized(event, event.start, frame),
    setByPerson(resized({ ...event, name: null }, frame, event.stop)),
  ];
}

export function mergeWithPrevious(index) {
  if (index < 1) return;
  const text = `${titleOf(index)} merged with ${titleOf(index - 1)}`;
  edit({ events: replaced(index - 1, 2, merged(events[index - 1], events[index])) }, text);
}

export function splitAt(frame) {
  const index = eventAt(frame);
  const event = events[index];
  if (frame <= event.start) return;
  edit(
    { events: replaced(index, 1, ...splitInTwo(event, frame)) },
    `${titleOf(index)} split at ${frameText(frame)}`,
  );
}

export function moveStart(index, frame) {
  const [before, after] = [events[index - 1], events[index]];
  if (index < 1 || frame <= before.start || frame >= after.stop || frame === after.start) return;
  const moved = setByPerson(resized(after, frame, after.stop));
  edit(
    { events: replaced(index - 1, 2, resized(before, before.start, frame), moved) },
    `Start of ${titleOf(index)} moved to ${frameText(frame)}`,
  );
}

export function undo() {
  if (older.length === 0) return;
  newer.push(state);
  showState(older.pop(), "Undone");
}

export function redo() {
  if (newer.length === 0) return;
  older.push(state);
  showState(newer.pop(), "Redone");
}

export function chooseKey(frame) {
  const index = eventAt(frame);
  if (events[index].key_frame === frame && events[index].key_chosen) return;
  edit(
    { events: replaced(index, 1, { ...events[index], key_frame: frame, key_chosen: true }) },
    `Key ${thing} of ${titleOf(index)} chosen`,
  );
}
