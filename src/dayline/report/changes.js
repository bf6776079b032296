// The person's changes as a list: to count them, and to apply them to other events of the same frames.

function startsOf(list) {
  return new Set(list.slice(1).map((event) => event.start));
}

// Removed and added boundaries; one of each with no unchanged boundary between them is one that was moved.
function boundaryChanges(before, after) {
  const [old, now] = [startsOf(before), startsOf(after)];
  const changes = [];
  let open = null;
  for (const frame of [...new Set([...old, ...now])].sort((a, b) => a - b)) {
    const which = !now.has(frame) ? "removed" : !old.has(frame) ? "added" : null;
    if (which === null) open = null;
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
  const changes = [];
  for (const event of after) {
    const old = known.get(event.start) ?? known.get(moved.get(event.start));
    const { start, stop } = event;
    // A merged event may have the name of its second part, which nobody typed.
    const inherited = () => event.name !== null && before.some((o) => o.name === event.name && o.start < stop && start < o.stop);
    if (event.name !== (old?.name ?? null) && !inherited()) changes.push({ kind: "name", start, last: stop - 1, name: event.name });
    const keyed = () => before.some((o) => o.key_chosen && o.key_frame === event.key_frame);
    if (event.key_chosen && !keyed()) changes.push({ kind: "key", frame: event.key_frame });
  }
  return changes;
}

function placeChanges(before, after) {
  const names = (places) => new Map(places.map((place) => [place.community, place.name ?? null]));
  const [old, now] = [names(before.places), names(after.places)];
  const communities = [...new Set([...old.keys(), ...now.keys()])].filter((c) => (old.get(c) ?? null) !== (now.get(c) ?? null));
  return communities.map((community) => ({
    kind: "place",
    name: now.get(community) ?? null,
    // Another run may number the contexts differently, but its frames are the same.
    frames: after.events.filter((event) => event.community === community).map((event) => keyFrame(event)),
  }));
}

function changesBetween(before, after) {
  const boundaries = boundaryChanges(before.events, after.events);
  const moved = new Map(boundaries.filter((c) => c.removed !== null && c.added !== null).map((c) => [c.added, c.removed]));
  return [...boundaries, ...nameChanges(before.events, after.events, moved), ...placeChanges(before, after)];
}

function sameState(a, b) {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

// At least one if anything differs, also something that the list above does not describe.
function countChanges(before, after) {
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
  const gone = removed === null ? -1 : result.findIndex((event, i) => i > 0 && event.start === removed);
  let name = null;
  if (gone > 0) {
    name = result[gone].name;
    const joined = merged(result[gone - 1], result[gone]);
    // The name of a boundary that moves goes with it.
    result = spliced(result, gone - 1, 2, added === null ? joined : { ...joined, name: result[gone - 1].name });
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

function withName(list, { start, last, name }) {
  let best = list.findIndex((event) => event.start === start);
  if (best < 0) best = list.reduce((most, event, i) => (overlap(event, start, last) > overlap(list[most], start, last) ? i : most), 0);
  return list[best].name === name ? list : withEvent(list, best, { name });
}

function withKey(list, { frame }) {
  const index = indexAt(list, frame);
  const { key_frame: key, key_chosen: isChosen } = list[index];
  return key === frame && isChosen ? list : withEvent(list, index, { key_frame: frame, key_chosen: true });
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

// The state after the changes, and those among them that it did not contain yet.
function applyChanges(current, changes) {
  const missing = [];
  const result = changes.reduce((now, change) => {
    const next = change.kind === "place" ? withPlace(now, change) : { ...now, events: withEvents(now.events, change) };
    if (next === now || (change.kind !== "place" && next.events === now.events)) return now;
    missing.push(change);
    return next;
  }, current);
  return { result, missing };
}

function withEvents(list, change) {
  return { boundary: withBoundary, name: withName, key: withKey }[change.kind]?.(list, change) ?? list;
}
