// Coarser and finer events: the nested levels of the result. What the person set, removed, named or
// chose stays in all.

import {
  edit,
  eventAt,
  events,
  hasOwnContext,
  mostFrequent,
  moveControl,
  state,
  timeAfter,
  timeBefore,
  undo,
} from "./events.js";
import { data, nFrames, original } from "./frames.js";
import { plural } from "./text.js";
import { bases, boundaryFrames, usualBase } from "./view.js";

// The boundaries of a level with the person's edits, each with its confidence. Events with a name,
// or with a place that the person chose for this event alone, stay as they are.
function boundariesIn(base, view) {
  const found = new Map();
  const removed = new Set(view.removed);
  const isFixed = (event) => event.name !== null || hasOwnContext(event);
  const fixed = events.filter(isFixed);
  base.boundaries.forEach((b, i) => {
    if (removed.has(b) || (base.confidences[i] ?? 1) < view.least) return;
    if (!fixed.some((event) => event.start < b && b < event.stop))
      found.set(b, base.confidences[i]);
  });
  events.forEach((event, index) => {
    const follows = index > 0 && isFixed(events[index - 1]);
    if (index > 0 && (event.reason === "required" || isFixed(event) || follows))
      found.set(event.start, event.confidence);
  });
  return new Map([...found].sort(([a], [b]) => a - b));
}

function eventsIn(view) {
  const found = boundariesIn(bases[view.level], view);
  const known = [...original.events, ...events];
  const same = new Map(known.map((event) => [`${event.start} ${event.stop}`, event]));
  const byStart = new Map(known.map((event) => [event.start, event]));
  const byStop = new Map(known.map((event) => [event.stop, event]));

  const shown = new Set(events);
  const edges = [0, ...found.keys(), nFrames];
  return edges.slice(0, -1).map((start, i) => {
    const stop = edges[i + 1];
    const old = same.get(`${start} ${stop}`);
    const key = keyIn(start, stop, view);
    if (
      old !== undefined &&
      (shown.has(old) || (old.name === null && !key.isChosen && !old.key_chosen))
    )
      return old;

    const owner = original.events.findLast((event) => event.start <= key.frame);
    return {
      ...owner,
      start,
      stop,
      community: data.communities === null ? owner.community : mostFrequent(start, stop),
      key_frame: key.frame,
      // At a hard cut of a film, the times are exact, between two sampled frames.
      start_time: byStart.get(start)?.start_time ?? timeAfter(start, stop),
      stop_time: byStop.get(stop)?.stop_time ?? timeBefore(start, stop),
      confidence: start === 0 ? null : found.get(start),
      interval: byStart.get(start)?.interval ?? null,
      reason: byStart.get(start)?.reason ?? "content",
      name: null,
      key_chosen: key.isChosen,
    };
  });
}

// The key frame of an event: one that the person chose, or the one of the result that is nearest to
// its middle.
function keyIn(start, stop, view) {
  const middle = start + ((stop - start) >> 1);
  const inside = (frame) => frame !== null && start <= frame && frame < stop;
  const chosenNow = events.find((event) => event.key_chosen && inside(event.key_frame))?.key_frame;
  const chosenKey = chosenNow ?? view.keys.find(inside);
  if (chosenKey !== undefined) return { frame: chosenKey, isChosen: true };
  const keys = original.events
    .filter((event) => !event.key_chosen)
    .map((event) => event.key_frame)
    .filter(inside);
  return {
    frame: keys.reduce(
      (a, b) => (Math.abs(b - middle) < Math.abs(a - middle) ? b : a),
      keys[0] ?? middle,
    ),
    isChosen: false,
  };
}

// Steps of one control in a row are one change, so that Undo returns to what was there before.
export function showView(by, wanted) {
  if (state.view.by === by) undo();
  const view = { ...state.view, ...wanted, by };
  const next = eventsIn(view);
  const text = plural(next.length, "event");
  const isSame = next.length === events.length && next.every((event, i) => event === events[i]);
  if (isSame) moveControl({ ...view, by: state.view.by }, text);
  else edit({ events: next, view }, text);
}

// The levels to save: what is shown becomes level 0.
export function levelsToSave() {
  const { view } = state;
  const now = boundaryFrames(events);
  if (!(original.levels?.length > 0)) return original.levels;
  if (
    view.level === usualBase &&
    view.least === 0 &&
    now.join() === bases[usualBase].boundaries.join()
  )
    return original.levels;

  const saved = [];
  bases.forEach((base, i) => {
    const found = boundariesIn(base, view);
    const boundaries =
      i < view.level
        ? now.filter((b) => found.has(b))
        : i === view.level
          ? now
          : [...new Set([...found.keys(), ...now])].sort((a, b) => a - b);
    const confidences = boundaries.map((b) => found.get(b) ?? events[eventAt(b)].confidence ?? 0);
    saved.push({ level: i - view.level, boundaries, confidences });
  });

  // Edits may make a level the same as its neighbor.
  const count = (i) => saved[i].boundaries.length;
  const kept = saved.filter(
    ({ level }, i) =>
      level === 0 || (level < 0 ? count(i) < count(i + 1) : count(i) > count(i - 1)),
  );
  const at = kept.findIndex(({ level }) => level === 0);
  return kept.length > 1 ? kept.map((one, i) => ({ ...one, level: i - at })) : [];
}
