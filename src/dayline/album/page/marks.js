// Favorites and hidden photos. Photos with the same content are marked together. Hidden ones are
// left out everywhere, unless the person asks to see them: then rows and the enlarged view show
// them, but neither the story nor a key picture does.

import { edit, events, refresh, state } from "./events.js";
import { original, thing } from "./frames.js";
import { plural } from "./text.js";

export const canMark = thing === "photo" && original.clock !== "media";
let showsHidden = false;
let known = { state: null };

function marks() {
  if (known.state !== state)
    known = { state, favorites: new Set(state.favorites), hidden: new Set(state.hidden) };
  return known;
}

export function isFavorite(frame) {
  return marks().favorites.has(frame);
}

export function isHidden(frame) {
  return marks().hidden.has(frame);
}

export function isLeftOut(frame) {
  return !showsHidden && isHidden(frame);
}

export function allFrames(event) {
  return Array.from({ length: event.stop - event.start }, (_, i) => event.start + i);
}

// The frames of an event that are not left out.
export function shownFrames(event) {
  return allFrames(event).filter((frame) => !isLeftOut(frame));
}

export function isEventHidden(event) {
  return marks().hidden.size > 0 && allFrames(event).every(isHidden);
}

export function isEventLeftOut(event) {
  return !showsHidden && isEventHidden(event);
}

// What shows an event: the key photo that the person chose, else a favorite; hidden photos only
// show an event that has no others.
export function keyFrame(event) {
  const key = event.key_frame ?? event.start + ((event.stop - event.start) >> 1);
  if (marks().favorites.size + marks().hidden.size === 0) return key;
  if (event.key_chosen && !isHidden(key)) return key;
  const shown = allFrames(event).filter((frame) => !isHidden(frame));
  const liked = shown.filter(isFavorite);
  const best = liked.length > 0 ? liked : shown;
  return best.reduce((a, b) => (Math.abs(b - key) < Math.abs(a - key) ? b : a), best[0] ?? key);
}

// These frames and all with the same content.
function withCopies(frames) {
  const { digests } = original;
  if (!digests) return frames;
  const wanted = new Set(frames.map((frame) => digests[frame]));
  return digests.flatMap((digest, frame) => (wanted.has(digest) ? [frame] : []));
}

export function toggleFavorite(frame) {
  const on = !isFavorite(frame);
  const favorites = marked(state.favorites, withCopies([frame]), on);
  edit({ favorites }, on ? "Favorite" : "No longer a favorite");
}

// Hides photos, or shows them again if all of them are hidden.
export function toggleHidden(frames) {
  const on = !frames.every(isHidden);
  const hidden = marked(state.hidden, withCopies(frames), on);
  edit({ hidden }, `${plural(frames.length, thing)} ${on ? "hidden" : "shown again"}`);
}

function marked(list, frames, on) {
  const changed = new Set(frames);
  const others = list.filter((frame) => !changed.has(frame));
  return on ? [...others, ...changed].sort((a, b) => a - b) : others;
}

// The state with these marks; the same one if it has them already.
export function withMarks(current, { kind, frames, on }) {
  const has = new Set(current[kind]);
  if (frames.every((frame) => has.has(frame) === on)) return current;
  return { ...current, [kind]: marked(current[kind], frames, on) };
}

// The marks that differ, by event.
export function markChanges(before, after) {
  return ["favorites", "hidden"].flatMap((kind) => {
    const [was, is] = [new Set(before[kind]), new Set(after[kind])];
    return after.events.flatMap((event) =>
      [true, false].flatMap((on) => {
        const [from, to] = on ? [was, is] : [is, was];
        const frames = allFrames(event).filter((frame) => to.has(frame) && !from.has(frame));
        return frames.length === 0 ? [] : [{ kind, on, frames }];
      }),
    );
  });
}

// Coordinates of events were found with photos that are hidden by now; the next run finds them
// without. An event that was divided has those of the whole. The photos that are left were in the
// same town.
export function withoutTheirLocations(list) {
  const before = new Set(original.hidden ?? []);
  const place = (event) => JSON.stringify(event.location ?? null);
  const isNew = (frame) => isHidden(frame) && !before.has(frame);
  const told = new Set(list.filter((event) => allFrames(event).some(isNew)).map(place));
  return list.map((event) => {
    if (!told.has(place(event))) return event;
    const without = { ...event, location: null };
    return isEventHidden(event) ? { ...without, town: null, country: null } : without;
  });
}

const hiddenSwitch = document.getElementById("show-hidden");
hiddenSwitch.addEventListener("click", () => {
  showsHidden = !showsHidden;
  refresh(showsHidden ? "Hidden photos are shown" : "Hidden photos are not shown");
});

export function renderHiddenSwitch() {
  const count = state.hidden.length;
  if (count === 0) showsHidden = false;
  hiddenSwitch.hidden = count === 0;
  hiddenSwitch.setAttribute("aria-pressed", String(showsHidden));
  hiddenSwitch.textContent = showsHidden ? "Leave out hidden" : `Show ${count} hidden`;
}

// The photos that are not hidden, and how many events are not.
export function countShown() {
  const shown = events.filter((event) => !isEventHidden(event));
  const all = Array.from({ length: original.n_frames }, (_, frame) => frame);
  return { frames: all.filter((frame) => !isHidden(frame)), events: shown.length };
}
