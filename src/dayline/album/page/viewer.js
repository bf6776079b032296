// The enlarged view of one picture, or the film; keys and buttons move through the day and correct
// events.

import { make, makeButton } from "./elements.js";
import {
  chooseKey,
  eventAt,
  events,
  mergeWithPrevious,
  moveStart,
  splitAt,
  titleOf,
} from "./events.js";
import {
  data,
  dayOf,
  dayText,
  frameText,
  isWall,
  lastUntil,
  nFrames,
  original,
  pictures,
  thing,
  times,
} from "./frames.js";
import { movie, originalOf, pictureOf, pictured } from "./pictures.js";
import { colorClass } from "./places.js";
import { fillRow } from "./rows.js";

export const viewer = document.getElementById("viewer");
viewer.tabIndex = -1;
const NEIGHBORS = 7;
export let viewed = 0;
let player = null; // of the film
let followed = null; // the frame that the film shows
const parts = makeViewer();

function viewerButton(text, className, label, action) {
  return makeButton({ class: className, "aria-label": label }, action, text);
}

function makeViewer() {
  const made = {
    title: make("p", { class: "viewer-title", dir: "auto" }),
    detail: make("p", { class: "viewer-detail" }),
    stage: make("div", { class: "stage" }),
    strip: make("div", { class: "film", "aria-hidden": "true" }),
    split: viewerButton("New event from here", "quiet", "Start a new event at this frame (S)", () =>
      splitAt(viewed),
    ),
    merge: viewerButton(
      "Merge with previous",
      "quiet",
      "Merge this event with the previous one (M)",
      () => mergeWithPrevious(eventAt(viewed)),
    ),
    begins: viewerButton(
      "Event begins here",
      "quiet",
      "Move the start of this event to this frame (B)",
      () => moveStart(eventAt(viewed), viewed),
    ),
    ends: viewerButton(
      "Event ends here",
      "quiet",
      "Move the end of this event to this frame (E)",
      endHere,
    ),
    keyed: viewerButton(
      `Use as key ${thing}`,
      "quiet",
      `Use this ${thing} as the key ${thing} of its event (K)`,
      () => chooseKey(viewed),
    ),
    play: viewerButton("Play", "quiet", "Play the film from here, or pause it (P)", () =>
      playOrPause(),
    ),
    source: make("a", { class: "quiet", target: "_blank", rel: "noopener" }, "Open the original"),
    back: viewerButton("‹", "step back", "Previous (left arrow)", () => viewFrame(viewed - 1)),
    on: viewerButton("›", "step on", "Next (right arrow)", () => viewFrame(viewed + 1)),
    close: viewerButton("×", "close", "Close (Escape)", () => viewer.close()),
  };

  viewer.append(
    make("div", { class: "viewer-head" }, make("div", {}, made.title, made.detail), made.close),
    make("div", { class: "viewer-middle" }, made.back, made.stage, made.on),
    made.strip,
    make(
      "div",
      { class: "viewer-actions" },
      made.play,
      made.begins,
      made.ends,
      made.split,
      made.merge,
      made.keyed,
      made.source,
    ),
    make(
      "p",
      { class: "keys" },
      "← → frames   ↑ ↓ events   S split   M merge   B begins   E ends   K key   ? all keys   Esc close",
    ),
  );

  made.strip.addEventListener("click", (e) => {
    const frame = e.target.closest("[data-frame]")?.dataset.frame;
    if (frame !== undefined) viewFrame(Number(frame));
  });
  swipe(made.stage);
  return made;
}

function swipe(stage) {
  let from = null;
  // The controls of a film are dragged, too.
  stage.addEventListener("pointerdown", (e) => {
    from = e.target.matches("video") ? null : e.clientX;
  });
  stage.addEventListener("pointerup", (e) => {
    if (from !== null && Math.abs(e.clientX - from) > 40)
      viewFrame(viewed + (e.clientX < from ? 1 : -1));
    from = null;
  });
}

// Makes the frame in view the last of its event: the next event starts one frame later.
function endHere() {
  const index = eventAt(viewed);
  if (index + 1 < events.length) moveStart(index + 1, viewed + 1);
}

export function openViewer(frame) {
  viewed = frame;
  if (!viewer.open) viewer.showModal();
  viewer.focus();
  viewFrame(frame);
}

function filmTile(frame, index) {
  const own = eventAt(frame);
  const classes = [
    "tile",
    colorClass(events[own], own),
    own === index ? "" : "other",
    frame === viewed ? "now" : "",
    frame === events[own].start ? "opens" : "",
  ];
  return make(
    "span",
    { class: classes.filter(Boolean).join(" "), "data-frame": String(frame) },
    pictureOf(frame, "tile-picture", "eager"),
  );
}

export function viewFrame(frame) {
  viewed = Math.min(nFrames - 1, Math.max(0, frame));
  const index = eventAt(viewed);
  const event = events[index];
  const name = original.names?.[viewed];
  const day = isWall && data.dated ? `${dayText(dayOf(times[viewed]), "short")}, ` : "";
  parts.title.textContent = titleOf(index);

  const shown = pictured(viewed);
  const standIn =
    shown === null || shown === viewed ? null : `picture of ${frameText(shown, true)}`;
  parts.detail.textContent = [
    day + frameText(viewed, true),
    `${viewed - event.start + 1} of ${event.stop - event.start}`,
    name,
    standIn,
  ]
    .filter(Boolean)
    .join("  ·  ");

  if (!filmShows(viewed))
    parts.stage.replaceChildren(
      shown !== null
        ? make("img", {
            src: pictures[shown],
            alt: `${titleOf(index)}, ${frameText(shown, true)}`,
            draggable: "false",
          })
        : make("p", { class: "no-picture" }, frameText(viewed, true)),
    );

  const film = [];
  for (let other = viewed - NEIGHBORS; other <= viewed + NEIGHBORS; other += 1) {
    film.push(
      other < 0 || other >= nFrames
        ? make("span", { class: "tile empty" })
        : filmTile(other, index),
    );
  }
  parts.strip.replaceChildren(...film);

  parts.back.disabled = viewed === 0;
  parts.on.disabled = viewed === nFrames - 1;
  parts.split.disabled = viewed === event.start;
  parts.begins.disabled = viewed === event.start || index === 0;
  parts.ends.disabled = viewed === event.stop - 1 || index === events.length - 1;
  parts.merge.disabled = index === 0;
  parts.keyed.disabled = event.key_frame === viewed;
  parts.play.hidden = movie === null || times === null;

  const address = originalOf(viewed);
  parts.source.hidden = address === null;
  if (address !== null) parts.source.href = address;
}

function stepEvents(step) {
  const index = eventAt(viewed);
  viewFrame(events[Math.min(events.length - 1, Math.max(0, index + step))].start);
}

viewer.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const actions = {
    ArrowLeft: () => viewFrame(viewed - 1),
    ArrowRight: () => viewFrame(viewed + 1),
    ArrowUp: () => stepEvents(-1),
    ArrowDown: () => stepEvents(1),
    PageUp: () => stepEvents(-1),
    PageDown: () => stepEvents(1),
    Home: () => viewFrame(0),
    End: () => viewFrame(nFrames - 1),
    s: () => splitAt(viewed),
    m: () => mergeWithPrevious(eventAt(viewed)),
    b: () => moveStart(eventAt(viewed), viewed),
    e: endHere,
    k: () => chooseKey(viewed),
    p: () => playOrPause(),
  };
  const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
  if (action === undefined) return;
  e.preventDefault();
  action();
});

// On closing, the list shows the event that was in view.
viewer.addEventListener("close", () => {
  const row = document.querySelector(`.event[data-event="${eventAt(viewed)}"]`);
  if (row === null) return;
  fillRow(row);
  const target = row.querySelector(`.thumb[data-frame="${viewed}"]`) ?? row.querySelector(".key");
  row.scrollIntoView({ block: "nearest" });
  target.focus({ preventScroll: true });
});

function timeText(seconds) {
  return seconds.toFixed(3).replace(/\.?0+$/, "");
}

function startTime(event) {
  return event.start_time ?? times[event.start];
}

// From the frame to the end of its event, where the film pauses; "play" in its controls goes on.
function filmAddress(frame) {
  const index = eventAt(frame);
  const from = frame === events[index].start ? startTime(events[index]) : times[frame];
  const to = index + 1 < events.length ? `,${timeText(startTime(events[index + 1]))}` : "";
  return `${movie}#t=${timeText(from)}${to}`;
}

export function playFilm(frame) {
  if (movie === null || times === null) return;
  openViewer(frame);
  player?.remove();
  player = make("video", {
    class: "player",
    controls: "",
    preload: "metadata",
    src: filmAddress(frame),
    "aria-label": `The film from ${frameText(frame, true)}`,
  });
  followed = frame;
  player.addEventListener("timeupdate", () => followFilm());
  player.addEventListener("error", filmFails);
  for (const change of ["play", "pause"])
    player.addEventListener(change, () => {
      parts.play.textContent = player?.paused === false ? "Pause" : "Play";
    });
  parts.stage.replaceChildren(player);
  // Whether it can be played is told by the events above.
  player.play().catch(() => null);
}

function playOrPause() {
  if (player === null) playFilm(viewed);
  else if (player.paused) player.play().catch(() => null);
  else player.pause();
}

// The title and the strip below follow the film.
function followFilm() {
  if (player === null || player.currentTime === 0) return;
  const now = player.currentTime + 0.001;
  // An event that starts with a hard cut begins before its first sampled frame.
  const { start, stop } =
    events[lastUntil((index) => startTime(events[index]), 0, events.length, now)];
  const frame = lastUntil((f) => times[f], start, stop, now);
  if (frame === followed) return;
  followed = frame;
  viewFrame(frame);
}

// Whether the enlarged view goes on showing the film: another frame chosen by the person ends it.
function filmShows(frame) {
  if (player !== null && frame === followed) return true;
  endFilm();
  return false;
}

function endFilm() {
  player?.pause();
  player?.removeAttribute("src");
  [player, followed] = [null, null];
  parts.play.textContent = "Play";
}

function filmFails(e) {
  if (e.target !== player) return;
  [player, followed] = [null, null];
  parts.stage.replaceChildren(
    make(
      "p",
      { class: "film-fails" },
      "This browser cannot play the film: it does not know the format, or the file is no longer there. ",
      make("a", { href: movie, target: "_blank", rel: "noopener" }, "Open the file"),
    ),
  );
}

viewer.addEventListener("close", endFilm);
