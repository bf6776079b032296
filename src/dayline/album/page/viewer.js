// The enlarged view of one picture, or the film; keys and buttons move through the day and correct
// events.

import { make } from "./elements.js";
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
  clockText,
  data,
  dayAt,
  dayText,
  durationOf,
  frameText,
  isWall,
  lastUntil,
  nameOf,
  nFrames,
  numberOf,
  original,
  pictures,
  timeOf,
  times,
} from "./frames.js";
import {
  canMark,
  shownFrames,
  isEventLeftOut,
  isFavorite,
  isHidden,
  isLeftOut,
  keyFrame,
  toggleFavorite,
  toggleHidden,
} from "./marks.js";
import { badge, movie, originalOf, photoOf, pictureOf, pictured, videoOf } from "./pictures.js";
import { colorClass, contextLabel, shownTitle } from "./places.js";
import { fillRow } from "./rows.js";
import { drag, fit, isZoomed, listenTo, showPicture, zoomStep } from "./zoom.js";

export const viewer = document.getElementById("viewer");
const NEIGHBORS = 7;
const DRAGGED = 80; // pixels, by an arrow key
const ACTIONS = {
  ArrowLeft: () => (isZoomed() ? drag(DRAGGED, 0) : stepFrames(-1)),
  ArrowRight: () => (isZoomed() ? drag(-DRAGGED, 0) : stepFrames(1)),
  ArrowUp: () => (isZoomed() ? drag(0, DRAGGED) : stepEvents(-1)),
  ArrowDown: () => (isZoomed() ? drag(0, -DRAGGED) : stepEvents(1)),
  Before: () => stepFrames(-1),
  Next: () => stepFrames(1),
  "+": () => zoomStep(1),
  "-": () => zoomStep(-1),
  0: fit,
  PageUp: () => stepEvents(-1),
  PageDown: () => stepEvents(1),
  Home: () => viewFrame(0),
  End: () => viewFrame(Infinity),
  Escape: leave,
  s: () => splitAt(viewed),
  m: () => mergeWithPrevious(eventAt(viewed)),
  b: () => moveStart(eventAt(viewed), viewed),
  e: endHere,
  k: () => canBeKey() && chooseKey(viewed),
  f: () => canMark && toggleFavorite(viewed),
  h: () => canMark && toggleHidden([viewed]),
  p: playOrPause,
};
const EDITS = ["s", "m", "b", "e", "k", "f", "h"];
const parts = {
  title: viewer.querySelector(".viewer-title"),
  detail: viewer.querySelector(".viewer-detail"),
  stage: viewer.querySelector(".stage"),
  strip: viewer.querySelector(".film"),
  source: viewer.querySelector("a.quiet"),
};
export let viewed = 0;
let isAside = false; // what is in view is in no event
let player = null; // of the film, or of a video
let followed = null; // the frame that it shows
const unplayable = new Set(); // addresses of videos

function buttonOf(key) {
  return viewer.querySelector(`[data-key="${key}"]`);
}

viewer.addEventListener("click", (e) => {
  const { key, frame } = e.target.closest("[data-key], [data-frame]")?.dataset ?? {};
  if (key !== undefined) actionOf(key)?.();
  else if (frame !== undefined) viewFrame(Number(frame));
});

viewer.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const action = actionOf(e.key.length === 1 ? e.key.toLowerCase() : e.key);
  if (action === undefined) return;
  e.preventDefault();
  action();
});

listenTo(parts.stage, stepFrames);

// The next frame in one direction that is not left out; null if there is none.
function nextFrame(frame, step) {
  let next = frame + step;
  while (next >= 0 && next < nFrames && isLeftOut(next)) next += step;
  return next >= 0 && next < nFrames ? next : null;
}

function canBeKey() {
  return !isHidden(viewed) && keyFrame(events[eventAt(viewed)]) !== viewed;
}

function stepFrames(step) {
  if (isAside) {
    viewFrame(viewed + step);
    return;
  }
  const next = nextFrame(viewed, step);
  if (next !== null) viewFrame(next);
}

function actionOf(key) {
  return isAside && EDITS.includes(key) ? undefined : ACTIONS[key];
}

// Makes the frame in view the last of its event: the next event starts one frame later.
function endHere() {
  const index = eventAt(viewed);
  if (index + 1 < events.length) moveStart(index + 1, viewed + 1);
}

// A video plays at once, if the browser lets it.
export function openViewer(frame) {
  isAside = false;
  openAt(frame);
  player?.play().catch(() => null);
}

// Shows what is set aside, which has the numbers after the last frame.
export function openAside(frame) {
  isAside = true;
  openAt(frame);
}

function openAt(frame) {
  viewed = frame;
  if (isLeftOut(frame) && nextFrame(frame, 1) === null && nextFrame(frame, -1) === null) return;
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
    badge(frame),
  );
}

function viewAside(frame) {
  const count = original.set_aside.length;
  viewed = Math.min(nFrames + count - 1, Math.max(nFrames, frame));
  const { name, kind, time } = original.set_aside[viewed - nFrames];
  endFilm();
  parts.stage.classList.remove("hidden-photo");
  parts.title.textContent = kind[0].toUpperCase() + kind.slice(1);
  parts.detail.textContent = [
    time === null ? null : clockText(time, true),
    `${viewed - nFrames + 1} of ${count}`,
    name,
  ]
    .filter(Boolean)
    .join("  ·  ");
  showPicture(parts.stage, { small: pictures[viewed], whole: originalOf(viewed), alt: name });
  buttonOf("Before").disabled = viewed === nFrames;
  buttonOf("Next").disabled = viewed === nFrames + count - 1;
  buttonOf("p").hidden = true;
  showSource();
}

// Browsers cannot show the originals of some formats, but may know a program that can.
function showSource() {
  const address = originalOf(viewed);
  parts.source.hidden = address === null;
  if (address !== null) parts.source.href = address;
}

export function viewFrame(frame) {
  for (const key of EDITS) buttonOf(key).hidden = isAside || ("fh".includes(key) && !canMark);
  parts.strip.hidden = isAside;
  if (isAside) {
    viewAside(frame);
    return;
  }
  const inside = Math.min(nFrames - 1, Math.max(0, frame));
  const shownFrame = isLeftOut(inside) ? (nextFrame(inside, 1) ?? nextFrame(inside, -1)) : inside;
  if (shownFrame === null) {
    leave();
    return;
  }
  viewed = shownFrame;
  const index = eventAt(viewed);
  const event = events[index];
  const name = nameOf(viewed);
  const isDated = isWall && data.dated && timeOf(viewed) !== null;
  const day = isDated ? `${dayText(dayAt(viewed), "short")}, ` : "";
  parts.title.textContent = shownTitle(index);

  const shown = pictured(viewed);
  const standIn =
    shown === null || shown === viewed ? null : `picture of ${frameText(shown, true)}`;
  parts.detail.textContent = [
    day + frameText(viewed, true),
    `${shownFrames(event).indexOf(viewed) + 1} of ${shownFrames(event).length}`,
    name,
    event.community === null ? null : contextLabel(event.community),
    standIn,
  ]
    .filter(Boolean)
    .join("  ·  ");

  if (!filmShows(viewed)) {
    const alt = `${titleOf(index)}, ${frameText(shown ?? viewed, true)}`;
    if (durationOf(viewed) !== null && canPlay(viewed)) showPlayer(videoOf(viewed), "The video");
    else if (shown === null)
      parts.stage.replaceChildren(make("p", { class: "no-picture" }, frameText(viewed, true)));
    else
      showPicture(parts.stage, {
        small: pictures[shown],
        whole: shown === viewed ? photoOf(viewed) : null,
        alt,
      });
  }
  history.replaceState(null, "", `#photo-${numberOf(viewed)}`);

  const film = [viewed];
  for (let step = 0; step < NEIGHBORS; step += 1) {
    film.unshift(film[0] === null ? null : nextFrame(film[0], -1));
    film.push(film.at(-1) === null ? null : nextFrame(film.at(-1), 1));
  }
  parts.strip.replaceChildren(
    ...film.map((other) =>
      other === null ? make("span", { class: "tile empty" }) : filmTile(other, index),
    ),
  );

  buttonOf("Before").disabled = nextFrame(viewed, -1) === null;
  buttonOf("Next").disabled = nextFrame(viewed, 1) === null;
  buttonOf("s").disabled = viewed === event.start;
  buttonOf("b").disabled = viewed === event.start || index === 0;
  buttonOf("e").disabled = viewed === event.stop - 1 || index === events.length - 1;
  buttonOf("m").disabled = index === 0;
  buttonOf("k").disabled = !canBeKey();
  buttonOf("f").setAttribute("aria-pressed", String(isFavorite(viewed)));
  buttonOf("h").setAttribute("aria-pressed", String(isHidden(viewed)));
  buttonOf("h").textContent = isHidden(viewed) ? "Unhide" : "Hide";
  buttonOf("h").setAttribute("aria-label", `${buttonOf("h").textContent} (H)`);
  parts.stage.classList.toggle("hidden-photo", isHidden(viewed));
  const play = buttonOf("p");
  const canBePlayed = (movie !== null && times !== null) || canPlay(viewed);
  if (!canBePlayed && document.activeElement === play) viewer.focus();
  play.hidden = !canBePlayed;
  showSource();
}

function canPlay(frame) {
  const address = videoOf(frame);
  return address !== null && !unplayable.has(address);
}

function stepEvents(step) {
  if (isAside) return;
  let index = eventAt(viewed) + step;
  while (index >= 0 && index < events.length && isEventLeftOut(events[index])) index += step;
  viewFrame(events[Math.min(events.length - 1, Math.max(0, index))].start);
}

// At once, since a dialog tells of its closing in a later task: a page that is then loaded again
// does not open the photo again.
function leave() {
  fit();
  history.replaceState(null, "", location.pathname + location.search);
  if (viewer.open) viewer.close();
}

// On closing, the list shows the event that was in view.
viewer.addEventListener("close", () => {
  if (viewer.open) return; // opened again in the meantime
  leave();
  endFilm();
  if (isAside) return;
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
  showPlayer(filmAddress(frame), `The film from ${frameText(frame, true)}`);
  addChapters();
  player.addEventListener("timeupdate", () => followFilm());
  // Whether it can be played is told by its events.
  player.play().catch(() => null);
}

// Browsers that know chapters list the events in the player.
function addChapters() {
  const track = player.addTextTrack("chapters", "Events");
  const starts = events.map(startTime);
  starts.forEach((start, k) => {
    const end = k + 1 < starts.length ? starts[k + 1] : Number.MAX_SAFE_INTEGER;
    const title = shownTitle(k).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    track.addCue(new VTTCue(start, end, title));
  });
}

function showPlayer(src, label) {
  player?.remove();
  player = make("video", {
    class: "player",
    controls: "",
    playsinline: "",
    preload: "metadata",
    src,
    "aria-label": label,
  });
  if (movie === null && pictures !== null) player.setAttribute("poster", pictures[viewed]);
  followed = viewed;
  player.addEventListener("error", filmFails);
  for (const change of ["play", "pause"])
    player.addEventListener(change, () => {
      buttonOf("p").textContent = player?.paused === false ? "Pause" : "Play";
    });
  parts.stage.replaceChildren(player);
}

function playOrPause() {
  if (player === null && movie !== null) playFilm(viewed);
  else if (player === null) {
    if (!canPlay(viewed)) return;
    showPlayer(videoOf(viewed), "The video of the live photo");
    player.addEventListener("ended", () => (endFilm(), viewFrame(viewed)));
    player.play().catch(() => null);
  } else if (player.paused) player.play().catch(() => null);
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
  // The keys go on working when what has the focus goes.
  if (player !== null && document.activeElement === player) viewer.focus();
  player?.pause();
  player?.removeAttribute("src");
  [player, followed] = [null, null];
  buttonOf("p").textContent = "Play";
}

function filmFails(e) {
  if (e.target !== player) return;
  const href = movie ?? player.getAttribute("src");
  unplayable.add(href);
  endFilm();
  viewFrame(viewed);
  const message = make(
    "p",
    { class: "film-fails" },
    "This browser cannot play the video: it does not know the format, or the file is no longer there. ",
    make("a", { href, target: "_blank", rel: "noopener" }, "Open the file"),
  );
  if (movie === null) parts.stage.append(message);
  else parts.stage.replaceChildren(message);
}
