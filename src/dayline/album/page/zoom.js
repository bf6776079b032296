// The picture in the enlarged view: the photo itself where it can be reached, zoomed and dragged.

import { make } from "./elements.js";

const STEP = 1.5;
const MOST_ZOOM = 8;
const SHORTEST_SWIPE = 40; // pixels
const PATIENCE = 150; // milliseconds: who goes through many pictures does not wait for each
let picture = null;
let [scale, shiftX, shiftY] = [1, 0, 0];
const fingers = new Map(); // where each pointer that is down was last
let swipedFrom = null;

export function isZoomed() {
  return scale > 1;
}

// Shows the small picture at once, and the photo as soon as it is there. Browsers cannot show some
// formats, and the photo may be gone: then the small picture stays.
export function showPicture(stage, { small, whole, alt }) {
  if (picture !== null && picture.parentElement === stage && picture.small === small) return;
  picture = make("img", { src: small, alt, draggable: "false" });
  picture.small = small;
  stage.replaceChildren(picture);
  fit();
  if (whole !== null) setTimeout(loadWhole, PATIENCE, picture, whole);
}

function loadWhole(shown, address) {
  if (shown !== picture || !shown.isConnected) return; // the person went on
  const loaded = new Image();
  loaded.src = address;
  loaded.decode().then(
    () => (shown.src = address),
    () => null,
  );
}

export function fit() {
  [scale, shiftX, shiftY] = [1, 0, 0];
  place();
}

// By a factor, around a point of the screen; around the middle by default.
export function zoom(factor, clientX = null, clientY = null) {
  if (picture?.isConnected !== true) return;
  const before = scale;
  scale = Math.min(MOST_ZOOM, Math.max(1, scale * factor));
  const box = picture.parentElement.getBoundingClientRect();
  const fromX = clientX === null ? 0 : clientX - box.left - box.width / 2;
  const fromY = clientY === null ? 0 : clientY - box.top - box.height / 2;
  shiftX = fromX - ((fromX - shiftX) * scale) / before;
  shiftY = fromY - ((fromY - shiftY) * scale) / before;
  place();
}

export function zoomStep(direction) {
  zoom(direction > 0 ? STEP : 1 / STEP);
}

export function drag(dx, dy) {
  [shiftX, shiftY] = [shiftX + dx, shiftY + dy];
  place();
}

function place() {
  if (picture === null) return;
  const { clientWidth: width, clientHeight: height } = picture;
  const within = (shift, size) =>
    Math.min(((scale - 1) * size) / 2, Math.max(((1 - scale) * size) / 2, shift));
  [shiftX, shiftY] = [within(shiftX, width), within(shiftY, height)];
  picture.style.transform = scale > 1 ? `translate(${shiftX}px, ${shiftY}px) scale(${scale})` : "";
  picture.classList.toggle("zoomed", scale > 1);
}

// One finger swipes to another picture, or drags one that is zoomed; two fingers and the wheel
// zoom. The controls of a film are dragged, too.
export function listenTo(stage, swipe) {
  stage.addEventListener("pointerdown", (e) => {
    if (e.target !== picture) return;
    fingers.set(e.pointerId, e);
    swipedFrom = fingers.size === 1 && !isZoomed() ? e.clientX : null;
    stage.setPointerCapture(e.pointerId);
  });
  stage.addEventListener("pointermove", (e) => {
    const last = fingers.get(e.pointerId);
    if (last === undefined) return;
    const other = [...fingers.values()].find((one) => one.pointerId !== e.pointerId);
    fingers.set(e.pointerId, e);
    if (other !== undefined) {
      const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      zoom(
        apart(e) / Math.max(1, apart(last)),
        (e.clientX + other.clientX) / 2,
        (e.clientY + other.clientY) / 2,
      );
    } else if (isZoomed()) drag(e.clientX - last.clientX, e.clientY - last.clientY);
  });
  for (const end of ["pointerup", "pointercancel"])
    stage.addEventListener(end, (e) => {
      const way = swipedFrom === null ? 0 : e.clientX - swipedFrom;
      if (fingers.delete(e.pointerId) && end === "pointerup" && Math.abs(way) > SHORTEST_SWIPE)
        swipe(way < 0 ? 1 : -1);
      swipedFrom = null;
    });
  stage.addEventListener(
    "wheel",
    (e) => {
      if (e.target !== picture) return;
      e.preventDefault();
      zoom(Math.exp(-e.deltaY / 300), e.clientX, e.clientY);
    },
    { passive: false },
  );
  stage.addEventListener("dblclick", (e) => {
    if (isZoomed()) fit();
    else zoom(STEP * STEP, e.clientX, e.clientY);
  });
}
