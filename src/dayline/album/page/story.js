// The story: the day, from any of its events on, as a slide show over the whole screen. What it
// shows follows from `slides`, `at` and `playing`.

import { make, makeButton } from "./elements.js";
import { eventAt, events, keyFrame, titleOf } from "./events.js";
import { data, eventSpanText, isWall, pictures } from "./frames.js";
import { movie, originalOf, pictured } from "./pictures.js";
import { contextLabel } from "./places.js";

const MOST_PHOTOS = 6; // of one event
const SECONDS = { title: 2.6, photo: 4 };
const story = document.getElementById("story");
const scene = story.querySelector(".story-scene");
const caption = story.querySelector(".story-caption");
const progress = story.querySelector(".story-progress");
const pause = document.getElementById("story-pause");
const speed = document.getElementById("story-speed");
let slides = [];
let at = 0;
let playing = false;
let timer = null;

// A film has its own way of being played.
export const canTellStory = pictures !== null && movie === null;

// The key photo of an event and others, spread over it, in order.
function photosOf(event) {
  const frames = Array.from({ length: event.stop - event.start }, (_, i) => event.start + i);
  const own = frames.filter((frame) => pictures[frame]);
  const count = Math.min(MOST_PHOTOS, own.length);
  const spread = Array.from({ length: count }, (_, i) => own[Math.floor((i * own.length) / count)]);
  const key = pictured(keyFrame(event));
  if (key === null || spread.includes(key)) return spread;
  const nearest = spread.reduce((a, b) => (Math.abs(b - key) < Math.abs(a - key) ? b : a));
  return spread.map((frame) => (frame === nearest ? key : frame));
}

function makeSlides() {
  const list = events.flatMap((event, index) => {
    const photos = photosOf(event);
    return photos.length === 0
      ? []
      : [
          { kind: "title", index, frame: pictured(keyFrame(event)) ?? photos[0] },
          ...photos.map((frame) => ({ kind: "photo", index, frame })),
        ];
  });
  return [...list, { kind: "end", index: events.length - 1, frame: list.at(-1)?.frame }];
}

export function tellStory(frame = 0) {
  slides = makeSlides();
  if (slides.length < 2) return;
  const first = eventAt(frame);
  at = Math.max(
    0,
    slides.findIndex(({ index }) => index >= first),
  );
  playing = true;
  progress.replaceChildren(...events.map(() => make("span", {})));
  if (!story.open) story.showModal();
  pause.focus();
  history.replaceState(null, "", "#story");
  showSlide();
}

function go(step) {
  at = Math.min(slides.length - 1, Math.max(0, at + step));
  showSlide();
}

function goToEvent(step) {
  const wanted = slides[at].index + step;
  const found = slides.findIndex(({ kind, index }) => kind !== "photo" && index >= wanted);
  at = found < 0 || wanted >= events.length ? slides.length - 1 : found;
  showSlide();
}

function setPlaying(now) {
  playing = now;
  if (playing && slides[at].kind === "end") at = 0;
  showSlide();
}

function showSlide() {
  clearTimeout(timer);
  const { kind, index, frame } = slides[at];
  if (kind === "end") playing = false;
  pause.textContent = playing ? "Pause" : "Play";
  story.classList.toggle("paused", !playing);
  [...progress.children].forEach((part, i) => part.classList.toggle("past", i <= index));
  showPictureOf(frame, kind);
  caption.replaceChildren(...{ title: titleCard, photo: () => [], end: endCard }[kind](index));
  if (playing) timer = setTimeout(() => go(1), (1000 * SECONDS[kind]) / Number(speed.value));
}

function partOfDay(time) {
  const hour = Math.floor(time / 3600) % 24;
  const parts = [
    [5, "Night"],
    [11, "Morning"],
    [14, "Midday"],
    [18, "Afternoon"],
    [22, "Evening"],
  ];
  return parts.find(([until]) => hour < until)?.[1] ?? "Night";
}

// The name that a person gave, else the part of the day.
function titleCard(index) {
  const event = events[index];
  const place = event.community === null ? null : contextLabel(event.community);
  const isTimed = isWall && event.start_time !== null;
  const title = event.name ?? (isTimed ? partOfDay(event.start_time) : titleOf(index));
  const about = [isTimed ? eventSpanText(event) : null, place];
  return [
    make("p", { class: "story-title", dir: "auto" }, title),
    make("p", { dir: "auto" }, about.filter(Boolean).join("  ·  ")),
  ];
}

function endCard() {
  const { next } = data.album ?? {};
  const ways = [makeButton({ class: "quiet" }, () => setPlaying(true), "Play again")];
  if (next) ways.unshift(make("a", { class: "strong", href: `${next.address}#story` }, next.name));
  return [
    make("p", { class: "story-title", dir: "auto" }, document.querySelector("h1").textContent),
    make("p", {}, next ? "The next day" : "The end"),
    make("p", { class: "story-ways" }, ...ways),
  ];
}

// The next picture fades in over the one before, the photo itself if it is loaded by then.
function showPictureOf(frame, kind) {
  scene.classList.toggle("dimmed", kind !== "photo");
  const shown = scene.lastElementChild;
  if (shown?.frame !== frame) {
    const picture = make("img", { src: pictures[frame], alt: "", draggable: "false" });
    picture.frame = frame;
    scene.append(picture);
    while (scene.childElementCount > 2) scene.firstElementChild.remove();
    const whole = originalOf(frame);
    if (whole !== null) sharpen(picture, whole);
  }
}

function sharpen(picture, address) {
  const loaded = new Image();
  loaded.src = address;
  // Browsers cannot show photos of some formats: then the small picture stays.
  loaded.decode().then(
    () => (picture.src = address),
    () => null,
  );
}

const KEYS = {
  ArrowRight: () => go(1),
  ArrowLeft: () => go(-1),
  ArrowDown: () => goToEvent(1),
  ArrowUp: () => goToEvent(-1),
  Home: () => go(-slides.length),
  End: () => go(slides.length),
};

story.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target === speed) return;
  const isSpace = e.key === " " && !e.target.matches("button, a");
  const action = isSpace ? () => setPlaying(!playing) : KEYS[e.key];
  if (action === undefined) return;
  e.preventDefault();
  action();
});

let touchedAt = null;
scene.addEventListener("pointerdown", (e) => {
  touchedAt = e.clientX;
});
scene.addEventListener("pointerup", (e) => {
  const way = touchedAt === null ? 0 : e.clientX - touchedAt;
  if (Math.abs(way) > 40) go(way < 0 ? 1 : -1);
  else setPlaying(!playing);
});
pause.addEventListener("click", () => setPlaying(!playing));
speed.addEventListener("change", showSlide);
document.getElementById("story-back").addEventListener("click", () => go(-1));
document.getElementById("story-on").addEventListener("click", () => go(1));
document.getElementById("story-close").addEventListener("click", () => story.close());
document.addEventListener("visibilitychange", () => {
  if (document.hidden && story.open && playing) setPlaying(false);
});
story.addEventListener("close", () => {
  clearTimeout(timer);
  playing = false;
  scene.replaceChildren();
  history.replaceState(null, "", location.pathname + location.search);
});
