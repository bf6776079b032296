// The day as a lane: boundary score above, events below, coloured by context. Several days have one lane each.

const NS = "http://www.w3.org/2000/svg";
const CURVE_POINTS = 1200;
const lanes = makeLanes();

function timesAscend() {
  return times !== null && times[nFrames - 1] > times[0] && times.every((t, i) => i === 0 || t >= times[i - 1]);
}

// A lane shows the frames first .. stop-1. Positions are seconds or, if times do not increase, frames.
function makeLanes() {
  if (!timesAscend()) return [{ first: 0, stop: nFrames, from: 0, to: nFrames, at: (frame) => frame, step: 1, byFrame: true }];
  if (!isWall || times[nFrames - 1] - times[0] <= 30 * 3600) return [wholeLane()];
  return dayLanes();
}

// Long pauses are shortened to leave space for the recorded time; each is marked with its duration.
function wholeLane() {
  const steps = times.map((t, i) => (i === 0 ? 0 : t - times[i - 1]));
  const recorded = steps.reduce((sum, step) => sum + (step > longStep ? typicalStep : step), typicalStep);
  const longest = Math.max(0.035 * recorded, longStep);
  const places = [];
  const pauses = [];
  steps.forEach((step, i) => {
    const before = i === 0 ? 0 : places[i - 1];
    places.push(before + Math.min(step, longest));
    if (step > 1.5 * longest) pauses.push({ from: before + typicalStep, to: places[i], frame: i, seconds: step });
  });
  // The position of a time on the axis; null within a shortened pause.
  const placeOf = (time) => {
    const frame = lastFrameUntil((f) => times[f], 0, nFrames, time);
    const after = time - times[frame];
    return frame + 1 < nFrames && steps[frame + 1] > 1.5 * longest && after > 0 ? null : places[frame] + after;
  };
  return { first: 0, stop: nFrames, from: 0, to: places[nFrames - 1] + typicalStep, at: (frame) => places[frame], step: typicalStep,
    pauses, placeOf, earliest: times[0], latest: times[nFrames - 1] + typicalStep };
}

function dayLanes() {
  const at = (frame) => times[frame];
  const days = [];
  for (let frame = 0; frame < nFrames; frame += 1) {
    const day = dayOf(times[frame]);
    if (days.length === 0 || days[days.length - 1].day !== day) days.push({ day, first: frame, stop: frame, at, step: typicalStep });
    days[days.length - 1].stop = frame + 1;
  }
  const earliest = Math.min(...days.map((lane) => times[lane.first] - lane.day * DAY));
  const latest = Math.max(...days.map((lane) => times[lane.stop - 1] - lane.day * DAY));
  const from = Math.floor(earliest / 3600) * 3600;
  const to = Math.min(DAY, Math.ceil((latest + 1) / 3600) * 3600);
  return days.map((lane) => {
    const [start, end] = [lane.day * DAY + from, lane.day * DAY + to];
    return { ...lane, label: dayText(lane.day, "short"), from: start, to: end, placeOf: (time) => time, earliest: start, latest: end };
  });
}

function share(lane, value) {
  return Math.min(1, Math.max(0, (value - lane.from) / (lane.to - lane.from)));
}

// Where a frame ends: at the next one, but not across a pause.
function endOf(lane, frame) {
  const isLast = frame + 1 === lane.stop;
  return share(lane, isLast || (!lane.byFrame && pauseBefore(frame + 1)) ? lane.at(frame) + lane.step : lane.at(frame + 1));
}

function lastFrameUntil(placeOfFrame, first, stop, value) {
  let low = first;
  let high = stop - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (placeOfFrame(middle) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function frameAtShare(lane, x) {
  return lastFrameUntil(lane.at, lane.first, lane.stop, lane.from + x * (lane.to - lane.from));
}

function scoreHeight() {
  let [lowest, highest] = [Infinity, -Infinity];
  for (const score of original.scores) [lowest, highest] = [Math.min(lowest, score), Math.max(highest, score)];
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
    for (let other = frame; other < Math.min(frame + group, lane.stop); other += 1) if (scores[other] > scores[top]) top = other;
    if (frame === lane.first || (!lane.byFrame && pauseBefore(frame))) stretches.push([]);
    const stretch = stretches[stretches.length - 1];
    stretch.push([1000 * share(lane, lane.at(top)), height(scores[top])]);
    stretch.end = 1000 * endOf(lane, Math.min(frame + group, lane.stop) - 1);
  }
  return stretches;
}

function svgElement(tag, attributes) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function curve(lane) {
  const svg = svgElement("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", class: "curve", role: "img",
    "aria-label": "Boundary score: high where one event is likely to end and another to begin" });
  for (const points of curveStretches(lane)) {
    points.push([points.end, points[points.length - 1][1]]);
    const line = points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
    const [first, last] = [points[0][0].toFixed(2), points[points.length - 1][0].toFixed(2)];
    svg.append(svgElement("polygon", { points: `${first},100 ${line} ${last},100` }), svgElement("polyline", { points: line }));
  }
  return svg;
}

function axis(lane) {
  const [from, to] = lane.byFrame ? [0, nFrames] : [lane.earliest, lane.latest];
  const steps = lane.byFrame ? [1, 2, 5, 10, 20, 50].flatMap((s) => [s, 100 * s, 10000 * s]).sort((a, b) => a - b)
    : [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, DAY];
  const step = steps.find((s) => (lane.to - lane.from) / s <= 13) ?? to - from;
  const box = make("div", { class: "axis", "aria-hidden": "true" });
  let [count, before] = [0, -1];
  for (let value = Math.ceil(from / step) * step; value <= to; value += step) {
    const place = lane.byFrame ? value : lane.placeOf(value);
    const x = place === null ? -1 : share(lane, place);
    if (x < 0.02 || x > 0.98 || x - before < 0.045) continue;
    const tick = make("span", { class: count % 2 ? "tick minor" : "tick" }, lane.byFrame ? value.toLocaleString("en-GB") : clockText(value));
    tick.style.left = `${100 * x}%`;
    box.append(tick);
    [count, before] = [count + 1, x];
  }
  return box;
}

function pauseMarks(lane) {
  return (lane.pauses ?? []).map((pause) => {
    const mark = make("span", { class: "gap", title: `${isWall ? `No ${thing}s` : "Nothing"} for ${durationText(pause.seconds)}` });
    mark.style.left = `${100 * share(lane, pause.from)}%`;
    mark.style.width = `${100 * (share(lane, pause.to) - share(lane, pause.from))}%`;
    return mark;
  });
}

function band(lane, groups) {
  const pieces = [];
  for (let index = eventAt(lane.first); index < events.length && events[index].start < lane.stop; index += 1) {
    const event = events[index];
    const from = share(lane, lane.at(Math.max(event.start, lane.first)));
    const to = endOf(lane, Math.min(event.stop, lane.stop) - 1);
    const piece = make("span", { class: `piece ${colourClass(event, index)}${isShown(event, groups) ? "" : " dimmed"}`, "data-event": String(index) });
    piece.style.left = `${100 * from}%`;
    piece.style.width = `${100 * (to - from)}%`;
    pieces.push(piece);
  }
  return pieces;
}

function makeLane(lane) {
  const track = make("div", { class: "track", role: "slider", tabindex: "0", "aria-label": lane.label ?? "Timeline: arrow keys move, Enter enlarges",
    "aria-valuemin": String(lane.first), "aria-valuemax": String(lane.stop - 1), "aria-valuenow": String(lane.first) });
  lane.band = make("div", { class: "band" });
  lane.cursor = make("span", { class: "cursor", hidden: "" });
  if (original.scores !== null) track.append(curve(lane));
  track.append(lane.band, lane.cursor);
  lane.track = track;
  track.addEventListener("pointermove", (e) => showPreview(lane, frameUnder(lane, e)));
  track.addEventListener("pointerleave", hidePreview);
  track.addEventListener("click", (e) => openViewer(frameUnder(lane, e)));
  track.addEventListener("focus", () => { if (track.matches(":focus-visible")) showPreview(lane, lane.now ?? lane.first); });
  track.addEventListener("blur", hidePreview);
  track.addEventListener("keydown", (e) => moveInLane(lane, e));
  return make("div", { class: "lane" }, lane.label ? make("p", { class: "lane-label" }, lane.label) : "", track, axis(lane));
}

function frameUnder(lane, e) {
  const box = lane.track.getBoundingClientRect();
  return frameAtShare(lane, (e.clientX - box.left) / box.width);
}

function moveInLane(lane, e) {
  const now = lane.now ?? lane.first;
  const index = eventAt(now);
  const targets = {
    ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: lane.first, End: lane.stop - 1,
    PageUp: events[Math.max(0, index - 1)].start, PageDown: events[Math.min(events.length - 1, index + 1)].start,
  };
  if (e.key === "Enter" || e.key === " ") openViewer(now);
  else if (e.key in targets) showPreview(lane, Math.min(lane.stop - 1, Math.max(lane.first, targets[e.key])));
  else return;
  e.preventDefault();
}

function showPreview(lane, frame) {
  const preview = document.getElementById("preview");
  const x = share(lane, lane.at(frame));
  const index = eventAt(frame);
  lane.now = frame;
  lane.track.setAttribute("aria-valuenow", String(frame));
  lane.track.setAttribute("aria-valuetext", `${frameText(frame, true)}, ${titleOf(index)}`);
  lane.cursor.hidden = false;
  lane.cursor.style.left = `${100 * x}%`;
  preview.replaceChildren(pictureOf(frame, "preview-picture", "eager"),
    make("p", { class: "preview-time" }, frameText(frame, true)), make("p", { class: "preview-title", dir: "auto" }, titleOf(index)));
  preview.hidden = false;
  const box = lane.track.getBoundingClientRect();
  const half = preview.offsetWidth / 2 + 8;
  const middle = Math.min(window.innerWidth - half, Math.max(half, box.left + x * box.width));
  preview.style.left = `${middle}px`;
  preview.style.top = `${box.bottom + 30}px`;
}

function hidePreview() {
  document.getElementById("preview").hidden = true;
  for (const lane of lanes) lane.cursor.hidden = true;
}

function renderTimeline(groups) {
  const box = document.getElementById("day");
  if (box.childElementCount === 0) {
    box.classList.toggle("many", lanes.length > 1);
    box.append(...lanes.map(makeLane));
  }
  for (const lane of lanes) lane.band.replaceChildren(...pauseMarks(lane), ...band(lane, groups));
}
