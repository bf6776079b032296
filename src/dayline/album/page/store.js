// Edits live in the browser's storage until they are saved: they survive a reload, are shared with
// other tabs of this page, and are offered again after the page was renewed. Each version of the
// events has a slot of its own.

import { applyChanges, changesBetween, countChanges, otherLevel, sameState } from "./changes.js";
import { adopt, edit, events, refresh, state } from "./events.js";
import { data, nFrames, original, timeOf, times } from "./frames.js";
import { showView } from "./levels.js";
import { closeNotice, notify } from "./notices.js";
import { finishTyping, typedRow } from "./rows.js";
import { dateText, isToday, plural, timeOfDay, whenText } from "./text.js";
import { bases, firstView } from "./view.js";

const SLOTS = "dayline edits ";
const STORED_FORMAT = 2;
export const DOWNLOAD = "download";
const DISMISSED = `dayline discarded ${data.key}`;
// The address of a page that dayline serves contains a token, which differs from time to time.
const PAGE = location.pathname.replace(/^\/dayline-[^/]+/, "");
const MOST_PATIENCE = 3000; // milliseconds
export const PROBLEMS = {
  early: "not stored yet",
  full: "not stored: the browser's storage is full",
  forbidden: "not stored: the browser forbids it",
  conflict: "not stored: another tab has other changes",
};
export let pageState = state; // what the page shows without edits
export let base = data.base;
let version = null; // of what this tab last read or stored
let isOpen = false; // whether the storage may be used
export let problem = null; // why the current state is not stored
export let kept = null; // { state, where: DOWNLOAD or the name of a folder, at } of the last save

function slotOf(mark) {
  return `${SLOTS}${data.key} ${mark}`;
}

// The browser's storage; null if the browser forbids it.
function storage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

function readJson(name) {
  try {
    return JSON.parse(storage()?.getItem(name) ?? null);
  } catch {
    return null; // not ours
  }
}

function readSlot(name) {
  const entry = readJson(name);
  const isOurs = entry?.format === STORED_FORMAT;
  return isOurs && Array.isArray(entry.changes) && Array.isArray(entry.state?.events)
    ? entry
    : null;
}

function removeSlot(name) {
  storage()?.removeItem(name);
}

export function isKept(which) {
  return kept !== null && sameState(which, kept.state);
}

export function unsavedChanges() {
  return isKept(state) ? 0 : countChanges(pageState, state);
}

// Frames are known by their content: after photos were added, their numbers differ.
function markOf(frame) {
  return { digest: original.digests?.[frame] ?? null, time: timeOf(frame) };
}

function framesOf(change) {
  return [...FRAMES_OF_CHANGES.map((which) => change[which]), ...(change.frames ?? [])].filter(
    (frame) => Number.isInteger(frame),
  );
}

function entryOf(which, more) {
  const changes = changesBetween(pageState, which);
  const marks = Object.fromEntries(
    changes.flatMap(framesOf).map((frame) => [frame, markOf(frame)]),
  );
  const downloaded = kept?.where === DOWNLOAD && isKept(which) ? kept.at : null;
  return {
    format: STORED_FORMAT,
    at: Date.now(),
    page: PAGE,
    key: data.key,
    state: which,
    changes,
    marks,
    downloaded,
    ...more,
  };
}

// Returns why it cannot be stored; null if it is.
function writeSlot(name, entry) {
  try {
    storage().setItem(name, JSON.stringify(entry));
    return null;
  } catch {
    return storage() === null ? "forbidden" : "full";
  }
}

export function storeState() {
  if (!isOpen) {
    problem = "early";
    return;
  }
  const name = slotOf(base);
  const there = readSlot(name);
  if (there !== null && there.version !== version) {
    problem = "conflict";
    offerOtherTab(there);
    return;
  }
  if (sameState(state, pageState)) {
    removeSlot(name);
    version = null;
    problem = null;
    return;
  }
  const next = `${Date.now()}-${Math.random()}`;
  problem = writeSlot(name, entryOf(state, { version: next }));
  if (problem === null) version = next;
}

// The state that an entry stands for. Events that are shown already stay the same objects and so
// keep their rows, with the focus and what is being typed there.
function stateIn(entry) {
  if (entry === null) return pageState;
  const known = new Map(events.map((event) => [JSON.stringify(event), event]));
  const list = entry.state.events.map((event) => known.get(JSON.stringify(event)) ?? event);
  // A level that this page does not have tells nothing.
  const view = bases[entry.state.view?.level] ? entry.state.view : firstView(list);
  const { favorites = [], hidden = [] } = entry.state;
  return { ...entry.state, events: list, view: { ...view, by: null }, favorites, hidden };
}

// Shows what another tab, or this one before a reload, stored.
function takeOver(entry, message) {
  version = entry?.version ?? null;
  problem = null;
  adopt(stateIn(entry));
  if (entry?.downloaded) kept = { state, where: DOWNLOAD, at: entry.downloaded };
  if (entry?.saved) wasSaved(state, entry.saved);
  closeNotice("other-tab");
  refresh(message);
}

function offerOtherTab(entry) {
  const count = plural(countChanges(pageState, stateIn(entry)), "change");
  const text = `Another tab of this page has ${count} (${whenText(entry.at)}) that this one does not contain.`;
  notify("other-tab", text, {
    "Use those": () => takeOver(entry, "Changes of the other tab"),
    "Keep these": () => {
      version = entry.version;
      closeNotice("other-tab");
      storeState();
      refresh("Changes stored");
    },
  });
}

// The events are in the result now: that is what later changes are counted from.
function wasSaved(which, { at, folder, base: mark }) {
  // There is another slot now, in which this tab has stored nothing.
  if (mark !== base) version = null;
  base = mark;
  pageState = which;
  kept = { state: which, where: folder, at };
}

// The browser has a copy of the current events as a file, whatever it calls that.
export function wasDownloaded() {
  kept = { state, where: DOWNLOAD, at: Date.now() };
  storeState();
}

export function storeSaved(sent, saved) {
  const name = slotOf(base);
  // Without changes, the slot stays the same, and other tabs have nothing to follow.
  if (saved.base !== base) {
    // Other tabs follow; the next visit removes this note.
    if ((readSlot(name)?.version ?? null) === version)
      writeSlot(name, entryOf(sent, { saved, version: `saved ${saved.at}` }));
    removeNote(saved.base);
  }
  wasSaved(sent, saved);
  storeState();
}

// The same events have the same slot whenever they return: a note that they were saved as others is
// then out of date.
function removeNote(mark) {
  if (readSlot(slotOf(mark))?.saved) removeSlot(slotOf(mark));
}

window.addEventListener("storage", (e) => {
  if (e.key !== null && e.key !== slotOf(base)) {
    if (e.key.startsWith(SLOTS)) offerEarlier();
    return;
  }
  const isKnown = (one) => (one?.version ?? null) === version;
  let entry = readSlot(slotOf(base));
  const typed = typedRow()?.event;
  // A name for an event that the other tab has changed would be lost: it becomes a change of this
  // tab first.
  if (!isKnown(entry) && typed !== undefined && !stateIn(entry).events.includes(typed)) {
    finishTyping();
    entry = readSlot(slotOf(base));
  }
  if (isKnown(entry)) return;
  if (problem === null) takeOver(entry, "Changes of another tab");
  else if (entry !== null) offerOtherTab(entry);
});

// Where a frame of stored changes is now, and whether it is certainly the same frame.
function frameNow({ digest, time }, frame, sameFrames) {
  if (sameFrames) return { now: frame, sure: true };
  const found = digest === null ? -1 : (original.digests?.indexOf(digest) ?? -1);
  if (found >= 0) return { now: found, sure: true };

  const later = time === null || times === null ? -1 : times.findIndex((t) => t >= time);
  // The same film may be sampled at other times now.
  const filmOf = (mark) => mark?.split(":")[0];
  if (original.clock === "media" && digest && filmOf(digest) === filmOf(original.digests?.[0]))
    return { now: later < 0 ? nFrames - 1 : later, sure: true };
  return { now: later < 0 ? null : later, sure: false };
}

const FRAMES_OF_CHANGES = ["removed", "added", "start", "last", "frame"];

// A favorite or a hidden photo is exactly this photo; other changes may be at one nearby.
function movedChange(change, places) {
  const isMark = change.kind === "favorites" || change.kind === "hidden";
  const now = new Map(
    places.map(([frame, place]) => [frame, isMark && !place.sure ? null : place.now]),
  );
  const moved = { ...change };
  for (const which of FRAMES_OF_CHANGES)
    if (Number.isInteger(change[which])) moved[which] = now.get(change[which]);
  if (change.frames)
    moved.frames = change.frames.map((frame) => now.get(frame)).filter((frame) => frame !== null);
  const lost = ["added", "start", "frame"].some(
    (which) => Number.isInteger(change[which]) && moved[which] === null,
  );
  return lost ? null : { ...moved, ...(moved.last === null && { last: moved.start }) };
}

// The changes of an entry in terms of the frames of this page; null if they belong to another
// recording.
function fittedChanges(entry) {
  const sameFrames = entry.key === data.key;
  const places = Object.entries(entry.marks).map(([frame, mark]) => [
    Number(frame),
    frameNow(mark, Number(frame), sameFrames),
  ]);
  if (2 * places.filter(([, { sure }]) => sure).length <= places.length) return null;
  return entry.changes
    .map((change) => movedChange(change, places))
    .filter((change) => change !== null);
}

function dismissed() {
  return readJson(DISMISSED) ?? [];
}

// Changes made before the page was renewed, or on another page of these frames, the latest first.
function earlierEntries() {
  const ignored = new Set(dismissed());
  return Object.keys(storage() ?? {})
    .filter((name) => name.startsWith(SLOTS) && name !== slotOf(base))
    .map((name) => ({ name, entry: readSlot(name) }))
    .filter(({ entry }) => entry !== null && !ignored.has(entry.version))
    .map((one) => ({ ...one, changes: fittedChanges(one.entry) }))
    .filter(({ changes }) => changes !== null)
    .sort((a, b) => b.entry.at - a.entry.at);
}

// Another page of the same photos, such as one with other settings, keeps its changes.
function forget(name, entry) {
  if (entry.page === PAGE) removeSlot(name);
  else writeSlot(DISMISSED, [...dismissed(), entry.version].slice(-100));
}

function remember(name, entry) {
  if (entry.page === PAGE) writeSlot(name, entry);
  else
    writeSlot(
      DISMISSED,
      dismissed().filter((one) => one !== entry.version),
    );
  offerEarlier();
}

function offerEarlier() {
  closeNotice("earlier");
  for (const { name, entry, changes } of earlierEntries()) {
    const { missing } = applyChanges(state, changes);
    // What was saved and is not there any more was changed or taken back since.
    if (missing.length === 0 || entry.saved) {
      if (entry.page === PAGE) removeSlot(name);
      continue;
    }

    const count = plural(missing.length, "change");
    const when = isToday(entry.at) ? `today ${timeOfDay(entry.at)}` : `on ${dateText(entry.at)}`;
    notify("earlier", `You made ${count} ${when} that this page does not contain.`, {
      Restore: () => restoreEarlier(name, entry, changes),
      Discard: () => {
        forget(name, entry);
        offerEarlier();
        const undo = () => {
          closeNotice("discarded");
          remember(name, entry);
        };
        notify("discarded", `${count} discarded.`, { Undo: undo });
      },
    });
    return;
  }
}

function restoreEarlier(name, entry, changes) {
  const level = otherLevel(changes);
  edit(applyChanges(state, changes).result, "Changes restored");
  if (level !== null) showView("restored", level);
  // If they could not be stored again, the old copy stays.
  if (problem === null && entry.page === PAGE) removeSlot(name);
  offerEarlier();
}

// On a busy machine, a page can run before Chromium has registered it. If it uses the storage then,
// all that it stores is lost with it, without an error. Chromium answers questions such as this one
// only after it has registered the page.
function registered() {
  const patience = new Promise((resolve) => {
    setTimeout(resolve, MOST_PATIENCE);
  });
  // If it is forbidden, there is nothing to wait for.
  const answer = navigator.locks?.query().catch(() => null);
  return Promise.race([answer, patience]);
}

export async function restoreStored() {
  await registered();
  isOpen = true;
  removeNote(base);
  const entry = readSlot(slotOf(base));
  if (problem !== null) {
    // edited meanwhile
    storeState();
    refresh();
  } else if (entry !== null) takeOver(entry);
  offerEarlier();
  document.body.dataset.restored = "";
}
