// The story: the day, from any of its events on, as slides: a title card and the best photos of
// each event.

import { make, makeButton } from "./elements.js";
import { eventAt, events, keyFrame } from "./events.js";
import { data, eventSpanText, isWall, pictures } from "./frames.js";
import { movie, originalOf, pictured } from "./pictures.js";
import { placeName, shownTitle } from "./places.js";
import { playAgain, playSlides } from "./slideshow.js";

const MOST_PHOTOS = 6; // of one event

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

function slide(part, frame, card = null) {
  return { part, picture: pictures[frame], whole: originalOf(frame), card };
}

export function tellStory(frame = 0) {
  const first = eventAt(frame);
  const slides = [];
  let part = 0;
  let from = -1;
  events.forEach((event, index) => {
    const photos = photosOf(event);
    if (photos.length === 0) return;
    if (from < 0 && index >= first) from = slides.length;
    slides.push(slide(part, pictured(keyFrame(event)) ?? photos[0], titleCard(index)));
    slides.push(...photos.map((photo) => slide(part, photo)));
    part += 1;
  });
  if (slides.length === 0) return;
  playSlides([...slides, { ...slides.at(-1), part, card: endCard() }], from);
}

function titleCard(index) {
  const event = events[index];
  const isTimed = isWall && event.start_time !== null;
  const title = shownTitle(index);
  const place = event.community === null ? null : placeName(event.community);
  const where = [place, event.town].filter((name) => name && !title.includes(name));
  const about = [isTimed ? eventSpanText(event) : null, ...where];
  return [
    make("p", { class: "story-title", dir: "auto" }, title),
    make("p", { dir: "auto" }, about.filter(Boolean).join("  ·  ")),
  ];
}

function endCard() {
  const { next } = data.album ?? {};
  const ways = [makeButton({ class: "quiet" }, playAgain, "Play again")];
  if (next) ways.unshift(make("a", { class: "strong", href: `${next.address}#story` }, next.name));
  return [
    make("p", { class: "story-title", dir: "auto" }, document.querySelector("h1").textContent),
    make("p", {}, next ? "The next day" : "The end"),
    make("p", { class: "story-ways" }, ...ways),
  ];
}
