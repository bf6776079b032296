// The day as a lane: boundary score above, events below, colored by place.

import { make, svgElement } from "./elements.js";
import { eventAt, events, titleOf } from "./events.js";
import {
  DAY,
  clockText,
  durationText,
  frameText,
  isWall,
  nFrames,
  original,
  pauseBefore,
  thing,
} from "./frames.js";
import { endOf, frameAtShare, lanes, share } from "./lanes.js";
import { isEventLeftOut } from "./marks.js";
import { pictureOf } from "./pictures.js";
import { colorClass, isShown, shownTitle } from "./places.js";
import { plural } from "./text.js";
import { openViewer } from "./viewer.js";

const CURVE_POINTS = 1200;

function scoreHeight() {
  let [lowest, highest] = [Infinity, -Infinity];
  for (const score of original.scores)
    [lowest, highest] = [Math.min(lowest, score), Math.max(highest, score)];
  return (score) => (highest > lowest ? 2 + 96 * (1 - (score - lowest) / (highest - lowest)) : 98);
}

// One line for every stretch without a pause; each point is the maximum over a group of frames.
function curveStretches(lane) {
  const { scores } = original;
  const height = scoreHeight();
  const group = Math.ceil((lane.stop - lane.first) / CURVE_POINTS);
  const stretches = [];
  for (let frame = lane.first; frame < lane.stop; frame += group) {
    let top = frame;
    for (let other = frame; other < Math.min(frame + group, lane.stop); other += 1)
      if (scores[other] > scores[top]) top = other;
    if (frame === lane.first || (!lane.byFrame && pauseBefore(frame))) stretches.push([]);
    const stretch = stretches[stretches.length - 1];
    stretch.push([1000 * share(lane, lane.at(top)), height(scores[top])]);
    stretch.end = 1000 * endOf(lane, Math.min(frame + group, lane.stop) - 1);
  }
  return stretches;
}

function curve(lane) {
  const svg = svgElement("svg", {
    viewBox: "0 0 1000 100",
    preserveAspectRatio: "none",
    class: "curve",
    role: "img",
    "aria-label": "Boundary score: high where one event is likely to end and another to begin",
  });
  for (const points of curveStretches(lane)) {
    points.push([points.end, points[points.length - 1][1]]);
    const line = points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
    const [first, last] = [points[0][0].toFixed(2), points[points.length - 1][0].toFixed(2)];
    svg.append(
      svgElement("polygon", { points: `${first},100 ${line} ${last},100` }),
      svgElement("polyline", { points: line }),
    );
  }
  return svg;
}

function axis(lane) {
  const [from, to] = lane.byFrame ? [0, nFrames] : [lane.earliest, lane.latest];
  const steps = lane.byFrame
    ? [1, 2, 5, 10, 20, 50].flatMap((s) => [s, 100 * s, 10000 * s]).sort((a, b) => a - b)
    : [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, DAY];
  const step = steps.find((s) => (lane.to - lane.from) / s <= 13) ?? to - from;
  const box = make("div", { class: "axis", "aria-hidden": "true" });
  let [count, before] = [0, -1];
  for (let value = Math.ceil(from / step) * step; value <= to; value += step) {
    const place = lane.byFrame ? value : lane.placeOf(value);
    const x = place === null ? -1 : share(lane, place);
    if (x < 0.02 || x > 0.98 || x - before < 0.045) continue;
    const tick = make(
      "span",
      { class: count % 2 ? "tick minor" : "tick" },
      lane.byFrame ? value.toLocaleString("en-GB") : clockText(value),
    );
    tick.style.left = `${100 * x}%`;
    box.append(tick);
    [count, before] = [count + 1, x];
  }
  return box;
}

function pauseMarks(lane) {
  return (lane.pauses ?? []).map((pause) => {
    const mark = make("span", {
      class: "gap",
      title: `${isWall ? `No ${thing}s` : "Nothing"} for ${durationText(pause.seconds)}`,
    });
    mark.style.left = `${100 * share(lane, pause.from)}%`;
    mark.style.width = `${100 * (share(lane, pause.to) - share(lane, pause.from))}%`;
    return mark;
  });
}

function band(lane) {
  const pieces = [];
  for (
    let index = eventAt(lane.first);
    index < events.length && events[index].start < lane.stop;
    index += 1
  ) {
    const event = events[index];
    if (isEventLeftOut(event)) continue;
    const from = share(lane, lane.at(Math.max(event.start, lane.first)));
    const to = endOf(lane, Math.min(event.stop, lane.stop) - 1);
    const piece = make("span", {
      class: `piece ${colorClass(event, index)}${isShown(event) ? "" : " dimmed"}`,
      "data-event": String(index),
    });
    piece.style.left = `${100 * from}%`;
    piece.style.width = `${100 * (to - from)}%`;
    pieces.push(piece);
  }
  return pieces;
}

// The shots of a film below its scenes: every other one is filled.
function shotStrip(lane) {
  const shots = original.shots ?? [];
  if (shots.length < 2 || lane.placeOf === undefined) return "";
  const x = (time) => (1000 * share(lane, lane.placeOf(time) ?? lane.to)).toFixed(2);
  const filled = shots.map((shot, k) => {
    const stop = k + 1 < shots.length ? x(shots[k + 1].start_time) : 1000;
    return k % 2 ? "" : `M${x(shot.start_time)},0H${stop}V10H${x(shot.start_time)}Z`;
  });
  const svg = svgElement("svg", {
    viewBox: "0 0 1000 10",
    preserveAspectRatio: "none",
    class: "shots",
    role: "img",
    "aria-label": plural(shots.length, "shot"),
  });
  svg.append(svgElement("path", { d: filled.join("") }));
  return svg;
}

// Where each boundary may lie, shaded on the curve if it is more than one frame.
function placesOfBoundaries(lane) {
  return events
    .filter((event, index) => index > 0 && event.interval?.[0] < event.interval?.[1])
    .filter(({ interval, start }) => interval[0] <= start && start <= interval[1])
    .filter(({ interval }) => lane.first <= interval[0] && interval[1] < lane.stop)
    .map(({ interval: [first, last] }) => {
      const from = share(lane, lane.at(first));
      const mark = make("span", {
        class: "interval",
        title: `Begins between ${frameText(first)} and ${frameText(last)} (80 %)`,
      });
      mark.style.left = `${100 * from}%`;
      mark.style.width = `${100 * (share(lane, lane.at(last)) - from)}%`;
      return mark;
    });
}

function makeLane(lane) {
  const track = make("div", {
    class: "track",
    role: "slider",
    tabindex: "0",
    "aria-label": lane.label ?? "Timeline: arrow keys move, Enter enlarges",
    "aria-valuemin": String(lane.first),
    "aria-valuemax": String(lane.stop - 1),
    "aria-valuenow": String(lane.first),
  });

  lane.band = make("div", { class: "band" });
  lane.cursor = make("span", { class: "cursor", hidden: "" });
  lane.intervals = make("div", { class: "intervals", "aria-hidden": "true" });
  if (original.scores !== null) track.append(lane.intervals, curve(lane));
  track.append(lane.band, shotStrip(lane), lane.cursor);
  lane.track = track;

  track.addEventListener("pointermove", (e) => showPreview(lane, frameUnder(lane, e)));
  track.addEventListener("pointerleave", hidePreview);
  track.addEventListener("click", (e) => enlarge(frameUnder(lane, e)));
  track.addEventListener("focus", () => {
    if (track.matches(":focus-visible")) showPreview(lane, lane.now ?? lane.first);
  });
  track.addEventListener("blur", hidePreview);
  track.addEventListener("keydown", (e) => moveInLane(lane, e));

  return make(
    "div",
    { class: "lane" },
    lane.label ? make("p", { class: "lane-label" }, lane.label) : "",
    track,
    axis(lane),
  );
}

function frameUnder(lane, e) {
  const box = lane.track.getBoundingClientRect();
  return frameAtShare(lane, (e.clientX - box.left) / box.width);
}

function enlarge(frame) {
  hidePreview();
  openViewer(frame);
}

function moveInLane(lane, e) {
  const now = lane.now ?? lane.first;
  const index = eventAt(now);
  const targets = {
    ArrowLeft: now - 1,
    ArrowDown: now - 1,
    ArrowRight: now + 1,
    ArrowUp: now + 1,
    Home: lane.first,
    End: lane.stop - 1,
    PageUp: events[Math.max(0, index - 1)].start,
    PageDown: events[Math.min(events.length - 1, index + 1)].start,
  };
  if (e.key === "Enter" || e.key === " ") enlarge(now);
  else if (e.key in targets)
    showPreview(lane, Math.min(lane.stop - 1, Math.max(lane.first, targets[e.key])));
  else return;
  e.preventDefault();
}

function showPreview(lane, frame) {
  const preview = document.getElementById("preview");
  const x = share(lane, lane.at(frame));
  const index = eventAt(frame);
  lane.now = frame;
  if (isEventLeftOut(events[index])) {
    hidePreview();
    return;
  }
  lane.track.setAttribute("aria-valuenow", String(frame));
  lane.track.setAttribute("aria-valuetext", `${frameText(frame, true)}, ${titleOf(index)}`);
  lane.cursor.hidden = false;
  lane.cursor.style.left = `${100 * x}%`;
  preview.replaceChildren(
    pictureOf(frame, "preview-picture", "eager"),
    make("p", { class: "preview-time" }, frameText(frame, true)),
    make("p", { class: "preview-title", dir: "auto" }, shownTitle(index)),
  );
  preview.hidden = false;
  const box = lane.track.getBoundingClientRect();
  const half = preview.offsetWidth / 2 + 8;
  const middle = Math.min(window.innerWidth - half, Math.max(half, box.left + x * box.width));
  preview.style.left = `${middle}px`;
  preview.style.top = `${box.bottom + 30}px`;
}

export function hidePreview() {
  document.getElementById("preview").hidden = true;
  for (const lane of lanes) lane.cursor.hidden = true;
}

export function renderTimeline() {
  const box = document.getElementById("day");
  if (box.childElementCount === 0) {
    box.classList.toggle("many", lanes.length > 1);
    box.append(...lanes.map(makeLane));
  }
  for (const lane of lanes) {
    lane.band.replaceChildren(...pauseMarks(lane), ...band(lane));
    lane.intervals.replaceChildren(...placesOfBoundaries(lane));
  }
}
