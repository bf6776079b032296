// The page of one result: draws all parts, and handles clicks and keys in the list.

import { openAsideList, renderAside } from "./aside.js";
import { openChooser } from "./chooser.js";
import { make, onKey } from "./elements.js";
import {
  connect,
  eventAt,
  events,
  mergeWithPrevious,
  redo,
  timeAfter,
  timeBefore,
  titleOf,
  townsOf,
  undo,
} from "./events.js";
import {
  clockText,
  countText,
  data,
  durationText,
  frameAt,
  nFrames,
  original,
  pictures,
  thing,
} from "./frames.js";
import { openHelp } from "./help.js";
import { lanes } from "./lanes.js";
import { renderMap } from "./map.js";
import {
  allFrames,
  countShown,
  isEventHidden,
  keyFrame,
  renderHiddenSwitch,
  toggleHidden,
} from "./marks.js";
import { frameButton, pictured, reachable } from "./pictures.js";
import {
  chosen,
  colorClass,
  contextGroups,
  contextLabel,
  finishPlace,
  groupContexts,
  renderContexts,
  showAllEvents,
  shownTitle,
} from "./places.js";
import { fillRow, finishTyping, focusRow, rename, renderRows, typedRow } from "./rows.js";
import { renderBar, save, showHowToShare } from "./save.js";
import { writable } from "./served.js";
import { restoreStored, storeState } from "./store.js";
import { canTellStory, hasStory, tellStory } from "./story.js";
import { suggestionFor } from "./suggestions.js";
import { findWords } from "./talk.js";
import { plural } from "./text.js";
import { hidePreview, renderTimeline } from "./timeline.js";
import { renderTools } from "./tools.js";
import { openViewer, playFilm, viewFrame, viewed, viewer } from "./viewer.js";

const MOST_BEST = 12;
const MOST_TOWNS = 4;
let rendering = false;

function render(message) {
  rendering = true;
  groupContexts();
  renderContexts();
  renderBest();
  renderMap();
  renderTimeline();
  renderRows();
  findWords();
  renderSummary();
  renderBar();
  renderGraph();
  renderTools();
  renderHiddenSwitch();
  for (const id of ["play", "share"]) document.getElementById(id).hidden = !hasStory();
  if (viewer.open) viewFrame(viewed);
  rendering = false;
  if (message) document.getElementById("live").textContent = message;
}

function townsText() {
  const towns = townsOf(events.filter((event) => !isEventHidden(event)));
  const more = towns.length - MOST_TOWNS;
  return towns.slice(0, MOST_TOWNS).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function renderSummary() {
  const recurring = [...contextGroups.keys()].filter((one) => contextLabel(one) !== null).length;
  const shown = countShown();
  const looked = original.shots?.length
    ? `${nFrames.toLocaleString("en-GB")} of ${plural(original.shots.at(-1).stop, thing)} looked at`
    : countText(shown.frames);
  const facts = [looked, plural(shown.events, "event")];
  if (original.shots?.length > 1) facts.push(plural(original.shots.length, "shot"));
  if (lanes.length > 1) facts.unshift(plural(lanes.length, "day"));
  else if (timeAfter(0, nFrames) !== null)
    facts.unshift(
      original.shots?.length
        ? durationText(original.shots.at(-1).stop_time)
        : `${clockText(timeAfter(0, nFrames))} – ${clockText(timeBefore(0, nFrames))}`,
    );
  facts.push(townsText());
  if (recurring) facts.push(plural(recurring, "place"));
  const summary = document.getElementById("summary");
  summary.replaceChildren(
    ...facts.filter(Boolean).map((fact) => make("span", { dir: "auto" }, fact)),
  );
  if (original.skipped?.length)
    summary.append(
      make("a", { href: "#about" }, `${plural(original.skipped.length, "file")} left out`),
    );
}

// The events along two edges of the graph, in the colors of their contexts.
function renderGraph() {
  for (const [id, side, extent] of [
    ["graph-top", "left", "width"],
    ["graph-side", "top", "height"],
  ]) {
    const strip = document.getElementById(id);
    if (strip === null) return;
    strip.replaceChildren(
      ...events.map((event, index) => {
        const piece = make("span", { class: `piece ${colorClass(event, index)}` });
        piece.style[side] = `${(100 * event.start) / nFrames}%`;
        piece.style[extent] = `${(100 * (event.stop - event.start)) / nFrames}%`;
        return piece;
      }),
    );
  }
}

// The key pictures of the longest events, in the order of the day.
function renderBest() {
  const box = document.getElementById("best");
  const longest = events
    .filter((event) => !isEventHidden(event))
    .sort((a, b) => b.stop - b.start - (a.stop - a.start));
  const shown = new Set(longest.slice(0, MOST_BEST));
  let before = null; // the same title is not told twice in a row
  const buttons = events.map((event, index) => {
    if (!shown.has(event) || pictured(keyFrame(event)) === null) return "";
    const button = frameButton(keyFrame(event), "best-one");
    const time = event.start_time === null ? "" : clockText(event.start_time);
    const caption = make("span", { class: "caption", dir: "auto" }, time);
    const title = shownTitle(index);
    // A number alone says nothing.
    if (title !== before && title !== `Event ${index + 1}`)
      caption.append(" ", make("b", {}, title));
    before = title;
    button.setAttribute("aria-label", `${caption.textContent} ${titleOf(index)}`.trim());
    button.tabIndex = 0;
    button.append(caption);
    return button;
  });
  box.replaceChildren(...buttons);
  box.hidden = box.childElementCount === 0;
}

const eventList = document.getElementById("events");

eventList.addEventListener("click", (e) => {
  const row = e.target.closest(".event");
  if (row === null) return;
  const frame = e.target.closest("[data-frame]")?.dataset.frame;
  const action = e.target.closest("[data-action]")?.dataset.action;
  const index = Number(row.dataset.event);
  if (frame !== undefined) openViewer(Number(frame));
  else if (action === "play") (canTellStory ? tellStory : playFilm)(events[index].start);
  else if (action === "take") {
    rename(events[index], suggestionFor(events[index]) ?? "");
    focusRow(index);
  } else if (action === "hide") {
    toggleHidden(allFrames(events[index]));
    focusRow(
      document.querySelector(`.event[data-event="${index}"]`) === null ? nextRow(index) : index,
    );
  } else if (action === "merge") {
    mergeWithPrevious(index);
    focusRow(index - 1);
  } else if (action !== undefined) openChooser(index, action);
});

// The row after an event that is left out, or the last one.
function nextRow(index) {
  const numbers = [...eventList.querySelectorAll(".event")].map((row) => Number(row.dataset.event));
  return numbers.find((number) => number > index) ?? numbers.at(-1) ?? 0;
}

eventList.addEventListener("change", (e) => {
  if (!e.target.matches(".name")) return;
  const { event } = e.target.closest(".event");
  const text = e.target.value;
  // Removing the row in which a person types ends the typing, too. The name then waits until the
  // page is rendered.
  if (rendering) queueMicrotask(() => rename(event, text));
  else rename(event, text);
});

eventList.addEventListener("keydown", (e) => {
  if (!e.target.matches(".name")) return;
  const row = e.target.closest(".event");
  if (e.key === "Escape") {
    e.target.value = row.event.name ?? "";
    e.target.blur();
  }
  if (e.key === "Enter") e.target.blur();
});

document.addEventListener("keydown", (e) => {
  if (!(e.ctrlKey || e.metaKey) || e.altKey) return;
  const key = e.key.toLowerCase();
  // Text that is being typed has an undo of its own, and a dialog hides what would change, except
  // the enlarged view.
  const elsewhere =
    typedRow() !== null || document.querySelector("dialog[open]:not(#viewer)") !== null;
  if (key === "s") {
    finishPlace();
    finishTyping();
    save();
  } else if (elsewhere) return;
  else if (key === "z") {
    if (e.shiftKey) redo();
    else undo();
  } else if (key === "y") redo();
  else return;
  e.preventDefault();
});

document.getElementById("find")?.addEventListener("input", findWords);
document.getElementById("undo").addEventListener("click", undo);
document.getElementById("redo").addEventListener("click", redo);
document.getElementById("save").addEventListener("click", save);
document.getElementById("help-button").addEventListener("click", openHelp);
document.getElementById("play").addEventListener("click", () => tellStory());
document.getElementById("share").addEventListener("click", showHowToShare);
onKey("?", openHelp);

window.addEventListener("beforeprint", () => document.querySelectorAll(".event").forEach(fillRow));
window.addEventListener("scroll", hidePreview, { passive: true });
for (const id of ["best", "map"])
  document.getElementById(id).addEventListener("click", (e) => {
    const frame = e.target.closest("[data-frame]")?.dataset.frame;
    if (frame !== undefined) openViewer(Number(frame));
  });

document.getElementById("hint").textContent =
  pictures === null
    ? "Name events, or merge, split and move them."
    : "Click a picture to enlarge it. Name events, or merge, split and move them.";
if (writable) document.getElementById("save").textContent = "Save";
// `dayline view` of one day serves no other.
for (const ways of document.querySelectorAll(".ways"))
  ways.hidden = reachable(ways.querySelector("a").getAttribute("href")) === null;
const search = document.querySelector(".ways:not([hidden]) [aria-keyshortcuts='/']");
onKey("/", () => {
  if (document.querySelector("dialog[open]") === null) search?.click();
});

// Addresses: index.html#event-12 shows an event, #photo-345 a photo, enlarged, and #story plays the
// day. The numbers stay when photos are added. Rows have no ids: browsers would go there by
// themselves and take the focus away.
function eventAtAddress(number) {
  const digest = data.addresses?.events[number - 1];
  if (digest === undefined) return number >= 1 && number <= events.length ? number - 1 : null;
  const frame = original.digests.indexOf(digest);
  return frame < 0 ? null : eventAt(frame);
}

function goToAddress() {
  if (window.location.hash === "#story" && canTellStory) tellStory();
  if (window.location.hash === "#aside") openAsideList();
  const [, kind, number] = /^#(photo|event)-(\d{1,8})$/.exec(window.location.hash) ?? [];
  const photo = kind === "photo" ? frameAt(Number(number)) : null;
  if (photo !== null) openViewer(photo);
  const index = kind === "event" ? eventAtAddress(Number(number)) : null;
  if (index === null) return;
  if (chosen.size > 0) showAllEvents();
  const row = document.querySelector(`.event[data-event="${index}"]`);
  fillRow(row);
  row.scrollIntoView({ block: "start", behavior: "instant" });
  row.querySelector(".name").focus({ preventScroll: true });
}

window.addEventListener("hashchange", goToAddress);
renderAside();

connect({ keep: storeState, draw: render });
render();
restoreStored().then(goToAddress);
