// Entries of the person's calendar, suggested as names of events at the same time.

import { data } from "./frames.js";

const SHORTEST = 60; // seconds that a photo, or an entry without an end, lasts
const LONGEST = 24 * 3600;
const entries = (data.calendar?.entries ?? []).map(([start, stop, title]) => ({
  start,
  stop: Math.max(stop, start + SHORTEST),
  title,
}));

// The title of the entry that shares most time with an event, at least half of the shorter one;
// null if there is none.
export function suggestionFor(event) {
  if (event.start_time === null || event.name !== null) return null;
  const start = event.start_time;
  const stop = Math.max(event.stop_time ?? start, start + SHORTEST);
  let best = null;
  for (const entry of entries) {
    const shared = Math.min(stop, entry.stop) - Math.max(start, entry.start);
    const shorter = Math.min(stop - start, entry.stop - entry.start);
    if (entry.stop - entry.start > LONGEST || shared < shorter / 2) continue;
    if (best === null || shared > best.shared) best = { shared, title: entry.title };
  }
  return best?.title ?? null;
}
