// Slides over the whole screen, which go on by themselves. What is shown follows from `slides`,
// `at` and `playing`.

import { make, makeButton } from "./elements.js";

const SECONDS = { card: 2.6, photo: 4, video: 20, idle: 3 };
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const story = document.getElementById("story");
const scene = story.querySelector(".story-scene");
const around = story.querySelector(".story-around");
const caption = story.querySelector(".story-caption");
const progress = story.querySelector(".story-progress");
const pause = document.getElementById("story-pause");
const speed = document.getElementById("story-speed");
let slides = [];
let at = 0;
let playing = false;
let timer = null;

// A slide is { part, picture, whole, video, card }: the number of its part, the address of a
// picture, those of the photo itself and of a video if there are, and the elements on a title card,
// null for a photo. The last slide ends the story.
export function playSlides(list, from, startsPlaying = true) {
  slides = list;
  at = Math.max(0, from);
  playing = startsPlaying;
  const parts = new Set(slides.slice(0, -1).map(({ part }) => part));
  progress.replaceChildren(...Array.from(parts, () => make("span", {})));
  if (!story.open) story.showModal();
  pause.focus();
  history.replaceState(null, "", "#story");
  showSlide();
}

function playAgain() {
  at = 0;
  setPlaying(true);
}

export function titleCard(title, ...lines) {
  return [
    make("p", { class: "story-title", dir: "auto" }, title),
    ...lines.map((line) => make("p", { dir: "auto" }, line)),
  ];
}

export function endCard(text, ...ways) {
  const again = makeButton({ class: "quiet" }, playAgain, "Play again");
  return [
    ...titleCard(document.querySelector("h1").textContent, text),
    make("p", { class: "story-ways" }, ...ways, again),
  ];
}

function go(step) {
  at = Math.min(slides.length - 1, Math.max(0, at + step));
  showSlide();
}

function goToPart(step) {
  const wanted = slides[at].part + step;
  const last = slides.length - 1;
  const found = slides.findIndex(({ card, part }) => card !== null && part >= wanted);
  at = found < 0 ? last : found;
  showSlide();
}

function setPlaying(now) {
  playing = now;
  if (playing && at === slides.length - 1) at = 0;
  showSlide();
}

function showSlide() {
  clearTimeout(timer);
  const { part, picture, whole, video, card } = slides[at];
  if (at === slides.length - 1) playing = false;
  pause.textContent = playing ? "Pause" : "Play";
  if (playing === story.classList.contains("paused")) wake();
  story.classList.toggle("paused", !playing);
  [...progress.children].forEach((one, i) => one.classList.toggle("past", i <= part));
  scene.classList.toggle("dimmed", card !== null);
  if (video && !calm.matches && !unshowable.has(video)) fadeInVideo(video, picture);
  else fadeIn(picture, whole);
  const film = playShown();
  caption.replaceChildren(...(card ?? []));
  const seconds = SECONDS[card !== null ? "card" : film ? "video" : "photo"];
  if (playing) timer = setTimeout(() => go(1), (1000 * seconds) / Number(speed.value));
}

const unshowable = new Set();

function fadeInVideo(address, poster) {
  if (scene.lastElementChild?.address === address) return;
  const film = make("video", { src: address, poster, playsinline: "", preload: "auto" });
  film.address = address;
  const isShown = () => story.open && scene.lastElementChild === film;
  film.addEventListener("ended", () => isShown() && playing && go(1));
  film.addEventListener("error", () => {
    unshowable.add(address);
    if (isShown()) showSlide();
  });
  addToScene(film, poster);
}

// Only the video of this slide plays, and only while the story does; returns whether there is one.
function playShown() {
  const film = scene.lastElementChild;
  for (const other of scene.querySelectorAll("video"))
    if (other !== film || !playing) other.pause();
  if (!(film instanceof HTMLVideoElement)) return false;
  film.playbackRate = Number(speed.value);
  if (playing)
    film.play().catch((error) => {
      // Some browsers let a video play with sound only if the person has just pressed something.
      if (error.name !== "NotAllowedError") return;
      film.muted = true;
      film.play().catch(() => null);
    });
  return true;
}

// What was shown before fades out meanwhile. Behind it all, the picture fills the screen, blurred.
function addToScene(element, picture) {
  scene.append(element);
  while (scene.childElementCount > 2) scene.firstElementChild.remove();
  around.append(make("img", { src: picture, alt: "" }));
  while (around.childElementCount > 2) around.firstElementChild.remove();
}

// While the story plays and the person does nothing, nothing but pictures is shown.
let idleTimer = null;

function wake() {
  clearTimeout(idleTimer);
  story.classList.remove("idle");
  if (playing) idleTimer = setTimeout(() => story.classList.add("idle"), 1000 * SECONDS.idle);
}

for (const sign of ["pointermove", "pointerdown", "keydown", "focusin"])
  story.addEventListener(sign, wake);

// The next picture fades in over the one before, the photo itself if it is loaded by then.
function fadeIn(address, whole) {
  if (scene.lastElementChild?.address === address) return;
  const picture = make("img", { src: address, alt: "", draggable: "false" });
  picture.address = address;
  addToScene(picture, address);
  if (whole !== null) sharpen(picture, whole);
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
  ArrowDown: () => goToPart(1),
  ArrowUp: () => goToPart(-1),
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
  around.replaceChildren();
  history.replaceState(null, "", location.pathname + location.search);
});
