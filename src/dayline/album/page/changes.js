// The person's changes as a list: to count them, and to apply them to other events of the same
// frames.

import { hasOwnContext, merged, newContext, spliced, splitInTwo, state } from "./events.js";
import { keyFrame, markChanges, withMarks } from "./marks.js";
import { bases, boundaryFrames } from "./view.js";

// Removed and added boundaries; one of each with no unchanged boundary between them is one that was
// moved. Those that came or went with the level are no changes of their own.
function boundaryChanges(before, after, view) {
  const [old, now] = [new Set(boundaryFrames(before)), new Set(boundaryFrames(after))];
  const required = new Set(
    after.filter((event) => event.reason === "required").map((event) => event.start),
  );
  const changes = [];
  let open = null;
  for (const frame of [...new Set([...old, ...now])].sort((a, b) => a - b)) {
    const which = !now.has(frame) ? "removed" : !old.has(frame) ? "added" : null;
    const byLevel =
      view !== null && (which === "removed" ? !view.removed.includes(frame) : !required.has(frame));
    if (which === null) open = null;
    else if (byLevel) continue;
    else if (open !== null && open[which] === null) {
      open[which] = frame;
      open = null;
    } else {
      open = { kind: "boundary", removed: null, added: null, [which]: frame };
      changes.push(open);
    }
  }
  return changes;
}

function nameChanges(before, after, moved) {
  const known = new Map(before.map((event) => [event.start, event]));
  const keys = new Set(before.filter((event) => event.key_chosen).map((event) => event.key_frame));
  const changes = [];
  for (const event of after) {
    const old = known.get(event.start) ?? known.get(moved.get(event.start));
    const { start, stop } = event;
    // A merged event may have the name of its second part, which nobody typed.
    const inherited = () =>
      event.name !== null &&
      before.some((o) => o.name === event.name && o.start < stop && start < o.stop);
    if (event.name !== (old?.name ?? null) && !inherited())
      changes.push({ kind: "name", start, last: stop - 1, name: event.name });
    if (event.key_chosen && !keys.has(event.key_frame))
      changes.push({ kind: "key", frame: event.key_frame });
  }
  return changes;
}

function placeChanges(before, after) {
  const names = (places) => new Map(places.map((place) => [place.community, place.name ?? null]));
  const [old, now] = [names(before.places), names(after.places)];
  const communities = [...new Set([...old.keys(), ...now.keys()])].filter(
    (c) => (old.get(c) ?? null) !== (now.get(c) ?? null),
  );
  // Another run may number the contexts differently, but its frames are the same.
  const framesOf = (community) =>
    after.events
      .filter((event) => event.community === community && !hasOwnContext(event))
      .map(keyFrame);
  return communities
    .map((community) => ({
      kind: "place",
      name: now.get(community) ?? null,
      frames: framesOf(community),
    }))
    .filter(({ frames }) => frames.length > 0);
}

// Events that the person moved to a place; also if the place has had its name before.
function moveChanges(before, after) {
  const known = new Map(before.events.map((event) => [event.start, event.community]));
  const names = new Map(after.places.map((place) => [place.community, place.name ?? null]));
  return after.events
    .filter(
      (event) =>
        hasOwnContext(event) &&
        known.get(event.start) !== event.community &&
        names.get(event.community),
    )
    .map(({ start, stop, community }) => ({
      kind: "move",
      start,
      last: stop - 1,
      name: names.get(community),
    }));
}

export function changesBetween(before, after) {
  const [was, is] = [before.view, after.view];
  const others = was.level !== is.level || was.least !== is.least;
  const boundaries = boundaryChanges(before.events, after.events, others ? is : null);
  const moved = new Map(
    boundaries
      .filter((c) => c.removed !== null && c.added !== null)
      .map((c) => [c.added, c.removed]),
  );
  const level = others ? [{ kind: "level", level: bases[is.level].level, least: is.least }] : [];
  return [
    ...level,
    ...boundaries,
    ...nameChanges(before.events, after.events, moved),
    ...placeChanges(before, after),
    ...moveChanges(before, after),
    ...markChanges(before, after),
  ];
}

export function sameState(a, b) {
  const parts = ({ events, places, favorites, hidden }) =>
    JSON.stringify([events, places, favorites, hidden]);
  return a === b || parts(a) === parts(b);
}

// At least one if anything differs, also something that the list above does not describe.
export function countChanges(before, after) {
  return sameState(before, after) ? 0 : Math.max(1, changesBetween(before, after).length);
}

function indexAt(list, frame) {
  return list.findLastIndex((event) => event.start <= frame);
}

function withEvent(list, index, parts) {
  return list.map((event, i) => (i === index ? { ...event, ...parts } : event));
}

function withBoundary(list, { removed, added }) {
  let result = list;
  const gone =
    removed === null ? -1 : result.findIndex((event, i) => i > 0 && event.start === removed);
  let name = null;
  if (gone > 0) {
    name = result[gone].name;
    const joined = merged(result[gone - 1], result[gone]);
    // The name of a boundary that moves goes with it.
    result = spliced(
      result,
      gone - 1,
      2,
      added === null ? joined : { ...joined, name: result[gone - 1].name },
    );
  }
  if (added === null) return result;
  const index = indexAt(result, added);
  if (result[index].start === added) return result;
  const [first, second] = splitInTwo(result[index], added);
  return spliced(result, index, 1, first, { ...second, name });
}

function overlap(event, start, last) {
  return Math.min(event.stop - 1, last) - Math.max(event.start, start);
}

function indexOver(list, start, last) {
  const same = list.findIndex((event) => event.start === start);
  return same >= 0
    ? same
    : list.reduce(
        (most, event, i) =>
          overlap(event, start, last) > overlap(list[most], start, last) ? i : most,
        0,
      );
}

function withName(list, { start, last, name }) {
  const best = indexOver(list, start, last);
  return list[best].name === name ? list : withEvent(list, best, { name });
}

function withKey(list, { frame }) {
  const index = indexAt(list, frame);
  const { key_frame: key, key_chosen: isChosen } = list[index];
  return isChosen && key === frame
    ? list
    : withEvent(list, index, { key_frame: frame, key_chosen: true });
}

function withPlace(current, { name, frames }) {
  const counts = new Map();
  for (const frame of frames) {
    const { community } = current.events[indexAt(current.events, frame)];
    if (community !== null) counts.set(community, (counts.get(community) ?? 0) + 1);
  }
  if (counts.size === 0) return current;
  const [community] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most));
  const old = current.places.find((place) => place.community === community);
  if ((old?.name ?? null) === name) return current;
  const others = current.places.filter((place) => place !== old);
  return { ...current, places: [...others, { id: null, ...old, community, name }] };
}

function withMove(current, { start, last, name }) {
  const index = indexOver(current.events, start, last);
  const known = current.places.find((place) => place.name === name)?.community;
  if (known !== undefined && current.events[index].community === known) return current;
  const community = known ?? newContext(current);
  const named =
    known === undefined ? [...current.places, { community, name, id: null }] : current.places;
  return { ...current, events: withEvent(current.events, index, { community }), places: named };
}

// The view after a change of level, if this page has that level and shows another.
export function otherLevel(changes) {
  const wanted = changes.find((change) => change.kind === "level");
  const level = wanted === undefined ? -1 : bases.findIndex((base) => base.level === wanted.level);
  const { view } = state;
  return level < 0 || (view.level === level && view.least === wanted.least)
    ? null
    : { level, least: wanted.least };
}

// The state after the changes, and those among them that it did not contain yet.
export function applyChanges(current, changes) {
  const missing = changes.filter(
    (change) => change.kind === "level" && otherLevel(changes) !== null,
  );
  const result = changes.reduce((now, change) => {
    const next = withChange(now, change);
    if (next === now) return now;
    missing.push(change);
    return next;
  }, current);
  return { result, missing };
}

function withChange(current, change) {
  const ofState = { place: withPlace, move: withMove, favorites: withMarks, hidden: withMarks }[
    change.kind
  ];
  if (ofState !== undefined) return ofState(current, change);
  const list =
    { boundary: withBoundary, name: withName, key: withKey }[change.kind]?.(
      current.events,
      change,
    ) ?? current.events;
  return list === current.events ? current : { ...current, events: list };
}
