// The page that `dayline share` writes: titles of events without a name, the story, and any photo
// over the whole screen. All it knows is on the page itself.

import { endCard, playSlides, titleCard } from "./slideshow.js";
import { automaticTitle } from "./titles.js";

const sections = [...document.querySelectorAll(".event")];
let earlier = null; // the event before, { name, stop }
for (const section of sections) {
  const heading = section.querySelector("h3");
  const { start, stop, place, town } = section.dataset;
  const isNamed = start === undefined;
  const about = { place: place || null, town: town || null, before: earlier };
  const times = { start: secondsOf(start), stop: secondsOf(stop) };
  if (!isNamed) heading.textContent = automaticTitle({ ...times, ...about }) ?? heading.textContent;
  earlier = { name: isNamed ? heading.textContent : null, stop: times.stop };
}
for (const photo of document.querySelectorAll("[data-ratio]"))
  photo.style.setProperty("--ratio", photo.dataset.ratio);

function secondsOf(text) {
  return text ? Number(text) : null;
}

function slide(part, photo, card = null) {
  const video = card === null ? (photo.dataset.video ?? null) : null;
  return { part, picture: photo.querySelector("img").src, whole: null, video, card };
}

function storySlides() {
  const slides = [];
  let day = null;
  sections.forEach((section, part) => {
    const best = [...section.querySelectorAll("[data-best]")];
    const key = section.querySelector("[data-key]") ?? best[0];
    if (section.dataset.day !== undefined && section.dataset.day !== day)
      slides.push(slide(part, key, titleCard(section.dataset.day)));
    ({ day } = section.dataset);
    const lines = [...section.querySelectorAll("h3, h3 + p")].map((line) => line.textContent);
    slides.push(slide(part, key, titleCard(...lines)));
    slides.push(...best.map((photo) => slide(part, photo)));
  });
  return [...slides, { ...slides.at(-1), part: sections.length, card: endCard("The end") }];
}

function openPhoto(photo) {
  const photos = [...document.querySelectorAll(".event button")];
  const slides = photos.map((one) => slide(sections.indexOf(one.closest(".event")), one));
  const end = { ...slides.at(-1), part: sections.length, card: endCard("The end") };
  playSlides([...slides, end], photos.indexOf(photo), "video" in photo.dataset);
}

const play = document.getElementById("play");
play.hidden = false;
play.addEventListener("click", () => playSlides(storySlides(), 0));
document.querySelector("main").addEventListener("click", (e) => {
  const photo = e.target.closest(".event button");
  if (photo !== null) openPhoto(photo);
});
