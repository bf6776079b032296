// What the person asked to see: a level of the result, the least confidence of a boundary, and what
// stays in all levels: the boundaries that the person removed and the key photos that the person
// chose, also those that this level does not show. `by` is the control that made the events, if one
// did.

import { original } from "./frames.js";

export const bases =
  original.levels?.length > 0
    ? original.levels
    : [
        {
          level: 0,
          boundaries: boundaryFrames(original.events),
          confidences: original.events.slice(1).map((event) => event.confidence),
        },
      ];
export const usualBase = Math.max(
  0,
  bases.findIndex((base) => base.level === 0),
);

export function boundaryFrames(list) {
  return list.slice(1).map((event) => event.start);
}

// The events may be edited already when the page opens; they then belong to the level that they
// differ from least.
export function firstView(events) {
  const now = new Set(boundaryFrames(events));
  const missing = bases.map(({ boundaries }) => boundaries.filter((b) => !now.has(b)));
  const differing = bases.map(
    ({ boundaries }, i) => now.size - boundaries.length + 2 * missing[i].length,
  );
  const level = differing[usualBase] === 0 ? usualBase : differing.indexOf(Math.min(...differing));
  const keys = events.filter((event) => event.key_chosen).map((event) => event.key_frame);
  return { level, least: 0, removed: missing[level], keys, by: null };
}

// The view after an edit of the events `before`.
export function editedView(view, before, after) {
  const now = new Set(boundaryFrames(after));
  const removed = new Set([...view.removed, ...boundaryFrames(before)]);
  const keys = new Set(view.keys);
  for (const { key_frame: key, key_chosen: isChosen, start, stop } of after) {
    if (!isChosen || keys.has(key)) continue;
    for (const other of keys) if (start <= other && other < stop) keys.delete(other);
    keys.add(key);
  }
  return { ...view, removed: [...removed].filter((b) => !now.has(b)), keys: [...keys], by: null };
}
