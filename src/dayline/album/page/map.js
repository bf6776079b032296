// Where the day took place: a line with a point per photo, in the colors of the events, and the
// names of towns. Drawn from numbers in the page; nothing is loaded.

import { svgElement } from "./elements.js";
import { eventAt, events, townsOf } from "./events.js";
import { data, frameText } from "./frames.js";
import { isLeftOut } from "./marks.js";
import { colorClass, shownTitle } from "./places.js";

const MAP_MARGIN = { x: 36, y: 34 };
const NAME_LETTER = 7; // mean width in pixels
const NAME_LINE = 18;
const MOST_NAMES = 9;
const LEAST_KM_ACROSS = 0.5; // across
const mapFigure = document.getElementById("map");
const mapBox = mapFigure.querySelector(".map-box");

function kilometers(length) {
  return length < 1 ? `${Math.round(1000 * length)} m` : `${length} km`;
}

// 1, 2 or 5 times a power of ten, at most `most`.
function roundLength(most) {
  const ten = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].map((digit) => digit * ten).find((length) => length <= most);
}

// Turns kilometers into pixels of a box: all points are inside, on one scale.
function mapProjection(points, width, height) {
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = range(points.map(([, x]) => x));
  const [top, bottom] = range(points.map(([, , y]) => y));
  const scale = Math.min(
    (width - 2 * MAP_MARGIN.x) / Math.max(right - left, LEAST_KM_ACROSS),
    (height - 2 * MAP_MARGIN.y) / Math.max(bottom - top, LEAST_KM_ACROSS),
  );
  const at = (x, y) => [
    width / 2 + (x - (left + right) / 2) * scale,
    height / 2 + (y - (top + bottom) / 2) * scale,
  ];
  return { at, scale };
}

function linePath(points, attributes) {
  const d = points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  return svgElement("path", { d, ...attributes });
}

// The names of towns that overlap neither each other nor the edges; those of events come first.
function townNames(at, width, height) {
  const taken = [];
  const shown = [];
  for (const [name, x, y] of data.map.towns) {
    const [px, py] = at(x, y);
    const half = (name.length * NAME_LETTER) / 2 + 6;
    const above = py > NAME_LINE + 4;
    const area = [px - half, px + half, py - (above ? NAME_LINE : 6), py + (above ? 6 : NAME_LINE)];
    const isInside = area[0] > 0 && area[1] < width && py > 4 && py < height - 30;
    const isFree = taken.every(
      (other) =>
        area[0] > other[1] || area[1] < other[0] || area[2] > other[3] || area[3] < other[2],
    );
    if (!isInside || !isFree) continue;
    taken.push(area);
    shown.push(
      svgElement("circle", { class: "map-town", cx: px, cy: py, r: 2 }),
      svgElement("text", { class: "map-name", x: px, y: above ? py - 6 : py + 16 }, name),
    );
    if (taken.length === MOST_NAMES) break;
  }
  return shown;
}

function mapScale(scale, width, height) {
  const length = roundLength(width / 4 / scale);
  const [right, y] = [width - 14, height - 14];
  const left = right - length * scale;
  return [
    linePath(
      [
        [left, y - 5],
        [left, y],
        [right, y],
        [right, y - 5],
      ],
      { class: "map-scale" },
    ),
    svgElement("text", { class: "map-text", x: (left + right) / 2, y: y - 6 }, kilometers(length)),
    linePath(
      [
        [16, 40],
        [16, 18],
        [12, 25],
        [16, 18],
        [20, 25],
      ],
      { class: "map-scale" },
    ),
    svgElement("text", { class: "map-text", x: 16, y: 54 }, "N"),
  ];
}

function drawMap() {
  const [width, height] = [mapBox.clientWidth, mapBox.clientHeight];
  if (width === 0) return;
  const shown = data.map.points.filter(([frame]) => !isLeftOut(frame));
  mapFigure.hidden = shown.length < 2;
  if (shown.length < 2) return;
  const { at, scale } = mapProjection(shown, width, height);
  const points = shown.map(([frame, x, y]) => ({ frame, index: eventAt(frame), xy: at(x, y) }));
  // An event's line begins where the one before it ends.
  const lines = events.map((event, index) => {
    const own = points.flatMap((point, k) => (point.index === index ? [k] : []));
    const inside = own.length ? points.slice(Math.max(0, own[0] - 1), own.at(-1) + 1) : [];
    return linePath(
      inside.map(({ xy }) => xy),
      { class: `map-line ${colorClass(event, index)}` },
    );
  });
  const marks = points.map(({ frame, index, xy: [cx, cy] }) =>
    svgElement(
      "circle",
      {
        class: `map-point ${colorClass(events[index], index)}`,
        "data-frame": frame,
        cx: cx.toFixed(1),
        cy: cy.toFixed(1),
        r: 5,
      },
      svgElement("title", {}, `${shownTitle(index)}, ${frameText(frame, true)}`),
    ),
  );
  const towns = townsOf(events).join(", ");
  const label = `Map of the day, ${kilometers(Math.ceil(width / scale))} across`;
  const svg = svgElement(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": towns ? `${label}: ${towns}` : label,
    },
    ...lines,
    ...marks,
    ...townNames(at, width, height),
    ...mapScale(scale, width, height),
  );
  mapBox.replaceChildren(svg);
}

export function renderMap() {
  mapFigure.hidden = !data.map;
  if (!data.map) return;
  mapFigure.querySelector("figcaption").hidden = data.map.towns.length === 0;
  drawMap();
}

if (data.map) new ResizeObserver(drawMap).observe(mapBox);
