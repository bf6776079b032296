// The story: the day, from any of its events on, as slides: a title card and the best photos of
// each event.

import { make } from "./elements.js";
import { eventAt, events } from "./events.js";
import { data, durationOf, eventSpanText, isWall, pictures } from "./frames.js";
import { allFrames, isEventHidden, isFavorite, isHidden, keyFrame } from "./marks.js";
import { movie, photoOf, videoOf } from "./pictures.js";
import { placeName, shownTitle } from "./places.js";
import { endCard, playSlides, titleCard } from "./slideshow.js";

const MOST_PHOTOS = 6; // of one event
const MOST_VIDEOS = 3;

// A film has its own way of being played.
export const canTellStory = pictures !== null && movie === null;

export function hasStory() {
  return canTellStory && events.some((event) => !isEventHidden(event));
}

function spread(list, most) {
  const count = Math.min(Math.max(most, 0), list.length);
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)]);
}

// The best photos of an event and its longest videos, in order.
function storyFrames(event) {
  const isVideo = (frame) => durationOf(frame) !== null && pictures[frame] && !isHidden(frame);
  const videos = allFrames(event).filter(isVideo);
  videos.sort((a, b) => durationOf(b) - durationOf(a));
  const frames = new Set([...photosOf(event), ...videos.slice(0, MOST_VIDEOS)]);
  return [...frames].sort((a, b) => a - b);
}

// The key photo of an event, the favorites, and others spread over it, in order.
function photosOf(event) {
  const own = allFrames(event).filter((frame) => pictures[frame] && !isHidden(frame));
  const key = own.includes(keyFrame(event)) ? keyFrame(event) : (own[own.length >> 1] ?? null);
  const liked = own.filter((frame) => isFavorite(frame) && frame !== key);
  const others = own.filter((frame) => !isFavorite(frame) && frame !== key);
  const best = [...own.filter((frame) => frame === key), ...spread(liked, MOST_PHOTOS - 1)];
  return [...best, ...spread(others, MOST_PHOTOS - best.length)].sort((a, b) => a - b);
}

function slide(part, frame, card = null) {
  const video = card === null && durationOf(frame) !== null ? videoOf(frame) : null;
  return { part, picture: pictures[frame], whole: photoOf(frame), video, card };
}

export function tellStory(frame = 0) {
  const first = eventAt(frame);
  const slides = [];
  let part = 0;
  let from = -1;
  events.forEach((event, index) => {
    const photos = storyFrames(event);
    if (photos.length === 0) return;
    const key = photos.includes(keyFrame(event)) ? keyFrame(event) : photos[0];
    if (from < 0 && index >= first) from = slides.length;
    slides.push(slide(part, key, cardOf(index)));
    slides.push(...photos.map((photo) => slide(part, photo)));
    part += 1;
  });
  if (slides.length === 0) return;
  playSlides([...slides, { ...slides.at(-1), part, card: lastCard() }], from);
}

function cardOf(index) {
  const event = events[index];
  const isTimed = isWall && event.start_time !== null;
  const title = shownTitle(index);
  const place = event.community === null ? null : placeName(event.community);
  const where = [place, event.town].filter((name) => name && !title.includes(name));
  const about = [isTimed ? eventSpanText(event) : null, ...where];
  return titleCard(title, about.filter(Boolean).join("  ·  "));
}

function lastCard() {
  const { next } = data.album ?? {};
  if (!next) return endCard("The end");
  const link = make("a", { class: "strong", href: `${next.address}#story` }, next.name);
  return endCard("The next day", link);
}
