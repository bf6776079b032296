// The day as a line: the boundary score above, the events below, coloured by context. Several days: one line each.

const NS = "http://www.w3.org/2000/svg";
const CURVE_POINTS = 1200;
const lanes = makeLanes();

function timesAscend() {
  return times !== null && times[nFrames - 1] > times[0] && times.every((t, i) => i === 0 || t >= times[i - 1]);
}

// A lane holds the frames first .. stop-1 and spans from .. to, in seconds or, without a clock that runs forward, in frames.
function makeLanes() {
  if (!timesAscend()) return [{ first: 0, stop: nFrames, from: 0, to: nFrames, at: (frame) => frame, step: 1, byFrame: true }];
  const at = (frame) => times[frame];
  const whole = { first: 0, stop: nFrames, from: times[0], to: times[nFrames - 1] + typicalStep, at, step: typicalStep };
  if (!isWall || whole.to - whole.from <= 30 * 3600) return [whole];
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
  return days.map((lane) => ({ ...lane, label: dayText(lane.day, "short"), from: lane.day * DAY + from, to: lane.day * DAY + to }));
}

function share(lane, value) {
  return Math.min(1, Math.max(0, (value - lane.from) / (lane.to - lane.from)));
}

// Where a frame ends: at the next one, but not across a pause.
function endOf(lane, frame) {
  const next = frame + 1 < lane.stop ? lane.at(frame + 1) : Infinity;
  return share(lane, Math.min(next, lane.at(frame) + (next - lane.at(frame) <= 4 * lane.step ? Infinity : lane.step)));
}

function frameAtShare(lane, x) {
  const value = lane.from + x * (lane.to - lane.from);
  let low = lane.first;
  let high = lane.stop - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lane.at(middle) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function curve(lane) {
  const scores = original.scores;
  let [lowest, highest] = [Infinity, -Infinity];
  for (const score of scores) [lowest, highest] = [Math.min(lowest, score), Math.max(highest, score)];
  const height = (score) => (highest > lowest ? 96 * (1 - (score - lowest) / (highest - lowest)) + 2 : 98);
  const group = Math.ceil((lane.stop - lane.first) / CURVE_POINTS);
  const points = [`0,100`];
  for (let frame = lane.first; frame < lane.stop; frame += group) {
    let top = frame;
    for (let other = frame; other < Math.min(frame + group, lane.stop); other += 1) if (scores[other] > scores[top]) top = other;
    const x = (1000 * share(lane, lane.at(top))).toFixed(2);
    if (frame > lane.first && !lane.byFrame && pauseBefore(frame)) {
      points.push(`${(1000 * endOf(lane, frame - 1)).toFixed(2)},100`, `${x},100`);
    }
    points.push(`${x},${height(scores[top]).toFixed(2)}`);
  }
  points.push(`${(1000 * endOf(lane, lane.stop - 1)).toFixed(2)},100`);
  const svg = document.createElementNS(NS, "svg");
  const path = document.createElementNS(NS, "polygon");
  svg.setAttribute("viewBox", "0 0 1000 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "curve");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Boundary score: high where one event is likely to end and another to begin");
  path.setAttribute("points", points.join(" "));
  svg.append(path);
  return svg;
}

function axis(lane) {
  const span = lane.to - lane.from;
  const steps = lane.byFrame ? [1, 2, 5, 10, 20, 50].flatMap((s) => [s, 100 * s, 10000 * s]).sort((a, b) => a - b)
    : [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, DAY];
  const step = steps.find((s) => span / s <= 13) ?? span;
  const box = make("div", { class: "axis", "aria-hidden": "true" });
  let count = 0;
  for (let value = Math.ceil(lane.from / step) * step; value <= lane.to; value += step) {
    const x = share(lane, value);
    if (x < 0.015 || x > 0.985) continue;
    const text = lane.byFrame ? value.toLocaleString("en-GB") : value % DAY === 0 && isWall && value === lane.to ? "24:00" : clockText(value);
    const tick = make("span", { class: count % 2 ? "tick minor" : "tick" }, text);
    tick.style.left = `${100 * x}%`;
    box.append(tick);
    count += 1;
  }
  return box;
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
  const track = make("div", { class: "track", role: "slider", tabindex: "0", "aria-label": lane.label ?? "Timeline: arrow keys walk, Enter enlarges",
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
  track.addEventListener("keydown", (e) => walkLane(lane, e));
  return make("div", { class: "lane" }, lane.label ? make("p", { class: "lane-label" }, lane.label) : "", track, axis(lane));
}

function frameUnder(lane, e) {
  const box = lane.track.getBoundingClientRect();
  return frameAtShare(lane, (e.clientX - box.left) / box.width);
}

function walkLane(lane, e) {
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
  for (const lane of lanes) lane.band.replaceChildren(...band(lane, groups));
}
