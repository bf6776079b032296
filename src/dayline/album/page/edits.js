// What the person edits: the parts of events.json that the page may change. A state is never changed in place, so undo
// returns to an older one. All scripts read `state`, `events` and `places`; only `edit` and `change` replace them.

let state = { events: original.events, places: original.places ?? [] };
let { events, places } = state; // always those of `state`
const older = [];
const newer = [];

function eventAt(frame) {
  let low = 0;
  let high = events.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (events[middle].start <= frame) low = middle;
    else high = middle - 1;
  }
  return low;
}

function titleOf(index) {
  return events[index].name ?? `Event ${index + 1}`;
}

function mostFrequent(start, stop) {
  const counts = new Map();
  let best = null;
  for (const community of data.communities.slice(start, stop)) {
    counts.set(community, (counts.get(community) ?? 0) + 1);
    if (best === null || counts.get(community) > counts.get(best)) best = community;
  }
  return best;
}

// Whether the person put the event into another context than that of its frames.
function hasOwnContext(event) {
  return data.communities !== null && event.community !== mostFrequent(event.start, event.stop);
}

function newContext(current) {
  const used = [...current.events, ...current.places].map(({ community }) => community ?? -1);
  return [...used, ...(data.communities ?? [])].reduce((a, b) => Math.max(a, b), -1) + 1;
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
    community: data.communities === null || hasOwnContext(event) ? event.community : mostFrequent(start, stop),
    key_frame: keyInside || event.key_frame === null ? event.key_frame : middle,
    key_chosen: keyInside && event.key_chosen,
    // An edge that stays keeps its time: at a hard cut of a film, it is exact, between two sampled frames.
    start_time: start === event.start ? event.start_time : times?.[start] ?? null,
    stop_time: stop === event.stop ? event.stop_time : times?.[stop - 1] ?? null,
  };
}

function setByPerson(event) {
  return { ...event, reason: "required", confidence: 1 };
}

function spliced(list, index, count, ...others) {
  return [...list.slice(0, index), ...others, ...list.slice(index + count)];
}

function replaced(index, count, ...others) {
  return spliced(events, index, count, ...others);
}

function merged(before, after) {
  const larger = after.stop - after.start > before.stop - before.start ? after : before;
  const keyed = before.key_chosen === after.key_chosen ? larger : before.key_chosen ? before : after;
  return {
    ...resized({ ...before, key_frame: keyed.key_frame, key_chosen: keyed.key_chosen, community: larger.community }, before.start, after.stop),
    stop_time: after.stop_time,
    name: before.name ?? after.name,
  };
}

function splitInTwo(event, frame) {
  return [resized(event, event.start, frame), setByPerson(resized({ ...event, name: null }, frame, event.stop))];
}

function useState(next) {
  state = next;
  ({ events, places } = next);
}

function setState(next, message) {
  useState(next);
  storeState();
  render(message);
}

// Replaces parts of the state, such as { places }; the message is read to people who cannot see the page.
function edit(parts, message) {
  older.push(state);
  newer.length = 0;
  setState({ ...state, ...parts }, message);
}

function change(nextEvents, message, nextPlaces = places) {
  edit({ events: nextEvents, places: nextPlaces }, message);
}

function mergeWithPrevious(index) {
  if (index < 1) return;
  const text = `${titleOf(index)} merged with ${titleOf(index - 1)}`;
  change(replaced(index - 1, 2, merged(events[index - 1], events[index])), text);
}

function splitAt(frame) {
  const index = eventAt(frame);
  const event = events[index];
  if (frame <= event.start) return;
  change(replaced(index, 1, ...splitInTwo(event, frame)), `${titleOf(index)} split at ${frameText(frame)}`);
}

function moveStart(index, frame) {
  const [before, after] = [events[index - 1], events[index]];
  if (index < 1 || frame <= before.start || frame >= after.stop || frame === after.start) return;
  const moved = setByPerson(resized(after, frame, after.stop));
  change(replaced(index - 1, 2, resized(before, before.start, frame), moved), `Start of ${titleOf(index)} moved to ${frameText(frame)}`);
}

function rename(event, text) {
  const index = events.indexOf(event);
  const name = text.trim() || null;
  if (index < 0 || name === event.name) return;
  const renamed = { ...event, name };
  rowOf.set(renamed, rowOf.get(event));
  change(replaced(index, 1, renamed), name === null ? "Name removed" : `Named ${name}`);
}

function undo() {
  if (older.length === 0) return;
  newer.push(state);
  setState(older.pop(), "Undone");
}

function redo() {
  if (newer.length === 0) return;
  older.push(state);
  setState(newer.pop(), "Redone");
}
