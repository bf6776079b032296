// The pictures of frames, the photos themselves, and the film.

import { make } from "./elements.js";
import { eventAt, events } from "./events.js";
import { data, durationOf, frameText, nameOf, pictures, timeOf } from "./frames.js";
import { isFavorite, isHidden, isLeftOut } from "./marks.js";
import { lengthText } from "./text.js";
import { served } from "./served.js";

function hasPicture(frame) {
  return pictures[frame] && !isLeftOut(frame);
}

// The nearest frame of the same event that has a picture: not every frame of a long film has one,
// and hidden photos are left out. Null if none has.
export function pictured(frame) {
  if (pictures === null || hasPicture(frame)) return pictures === null ? null : frame;
  const { start, stop } = events[eventAt(frame)];
  for (let step = 1; frame - step >= start || frame + step < stop; step += 1) {
    if (frame - step >= start && hasPicture(frame - step)) return frame - step;
    if (frame + step < stop && hasPicture(frame + step)) return frame + step;
  }
  return null;
}

export function pictureOf(frame, className, loading = "lazy") {
  const shown = pictured(frame);
  if (shown === null)
    return make(
      "span",
      { class: `${className} blank`, "aria-hidden": "true" },
      timeOf(frame) === null ? String(frame) : frameText(frame),
    );
  const picture = make("img", {
    class: shown === frame ? className : `${className} nearby`,
    loading,
    decoding: "async",
    alt: "",
    src: pictures[shown],
  });
  leaveRoom(picture, shown);
  return picture;
}

// Leaves the room that the picture of a frame needs, uncropped.
function leaveRoom(element, frame) {
  if (data.ratios?.[frame]) element.style.setProperty("--ratio", data.ratios[frame]);
}

// How long a video lasts, on its picture; nothing for a photo. The style sheet shows it: as text it
// would be a part of what a button is called.
export function badge(frame) {
  const seconds = durationOf(frame);
  return seconds === null
    ? ""
    : make("span", { class: "badge", "data-length": lengthText(seconds) });
}

export function frameButton(frame, className = "thumb") {
  const name = nameOf(frame);
  const seconds = durationOf(frame);
  const what = seconds === null ? null : `video of ${lengthText(seconds)}`;
  const mark = isHidden(frame) ? "hidden" : isFavorite(frame) ? "favorite" : null;
  const label = [frameText(frame, true), what, name, mark].filter(Boolean).join(", ");
  const button = make(
    "button",
    {
      type: "button",
      class: mark === null ? className : `${className} ${mark}-photo`,
      "data-frame": String(frame),
      "aria-label": label,
      title: label,
      tabindex: "-1",
    },
    pictureOf(frame, "thumb-picture"),
    badge(frame),
  );
  leaveRoom(button, pictured(frame));
  return button;
}

// A page that is served does not reach files outside its folder, except below the token of `dayline
// view --source`.
export function reachable(address) {
  if (address === null || address === undefined) return null;
  if (location.protocol === "file:" || !address.startsWith("../")) return address;
  const top = `${location.pathname.split("/", 2).join("/")}/`;
  return served && new URL(address, location.href).pathname.startsWith(top) ? address : null;
}

export const movie = reachable(data.film);

export function originalOf(frame) {
  return reachable(data.originals?.[frame]);
}

// The photo itself; null for a video.
export function photoOf(frame) {
  return durationOf(frame) === null ? originalOf(frame) : null;
}

// The video, or the short one of a live photo.
export function videoOf(frame) {
  return durationOf(frame) === null ? reachable(data.live?.[frame]) : originalOf(frame);
}
