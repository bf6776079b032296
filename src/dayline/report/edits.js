// The events and places with the person's edits. They are never changed in place, so undo returns to an older list.

let events = original.events;
let places = original.places ?? [];
let saved = { events, places };
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

// The event with other edges; everything that depends on its frames is recomputed.
function resized(event, start, stop) {
  const middle = start + ((stop - start) >> 1);
  const keyInside = event.key_frame !== null && start <= event.key_frame && event.key_frame < stop;
  return {
    ...event,
    start,
    stop,
    // An event that the person put into another context stays there.
    community: data.communities === null || event.community !== mostFrequent(event.start, event.stop) ? event.community : mostFrequent(start, stop),
    key_frame: keyInside || event.key_frame === null ? event.key_frame : middle,
    // An edge that stays keeps its time: at a hard cut of a film, it is exact, between two sampled frames.
    start_time: start === event.start ? event.start_time : times?.[start] ?? null,
    stop_time: stop === event.stop ? event.stop_time : times?.[stop - 1] ?? null,
  };
}

function setByPerson(event) {
  return { ...event, reason: "asked", confidence: 1 };
}

function replaced(index, count, ...others) {
  return [...events.slice(0, index), ...others, ...events.slice(index + count)];
}

function change(next, message, nextPlaces = places) {
  older.push({ events, places });
  newer.length = 0;
  events = next;
  places = nextPlaces;
  render(message);
}

function isSaved() {
  return events === saved.events && places === saved.places;
}

function mergeWithPrevious(index) {
  if (index < 1) return;
  const [before, after] = [events[index - 1], events[index]];
  const larger = after.stop - after.start > before.stop - before.start ? after : before;
  const merged = {
    ...resized({ ...before, key_frame: larger.key_frame, community: larger.community }, before.start, after.stop),
    stop_time: after.stop_time,
    name: before.name ?? after.name,
  };
  const text = `${titleOf(index)} merged with ${titleOf(index - 1)}`;
  change(replaced(index - 1, 2, merged), text);
}

function splitAt(frame) {
  const index = eventAt(frame);
  const event = events[index];
  if (frame <= event.start) return;
  const second = setByPerson(resized({ ...event, name: null }, frame, event.stop));
  change(replaced(index, 1, resized(event, event.start, frame), second), `${titleOf(index)} split at ${frameText(frame)}`);
}

function moveStart(index, frame) {
  const [before, after] = [events[index - 1], events[index]];
  if (index < 1 || frame <= before.start || frame >= after.stop || frame === after.start) return;
  const moved = setByPerson(resized(after, frame, after.stop));
  change(replaced(index - 1, 2, resized(before, before.start, frame), moved), `Start of ${titleOf(index)} moved to ${frameText(frame)}`);
}

function rename(index, text) {
  const name = text.trim() || null;
  if (name === events[index].name) return;
  const renamed = { ...events[index], name };
  rowOf.set(renamed, rowOf.get(events[index]));
  change(replaced(index, 1, renamed), name === null ? "Name removed" : `Named ${name}`);
}

function undo() {
  if (older.length === 0) return;
  newer.push({ events, places });
  ({ events, places } = older.pop());
  render("Undone");
}

function redo() {
  if (newer.length === 0) return;
  older.push({ events, places });
  ({ events, places } = newer.pop());
  render("Redone");
}

// The same text as dayline writes: plain ASCII, so that names of invalid UTF-8 survive too.
function eventsJson() {
  const text = JSON.stringify({ ...original, events, places }, null, 1);
  return text.replace(/[\u0080-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) + "\n";
}

function save() {
  const address = URL.createObjectURL(new Blob([eventsJson()], { type: "application/json" }));
  const link = make("a", { href: address, download: "events.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  saved = { events, places };
  render("events.json saved");
}
