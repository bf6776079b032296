// The controls above the list: coarser and finer, the least confidence of a boundary, and a menu of
// days.

import { make } from "./elements.js";
import { eventAt, events, state, titleOf } from "./events.js";
import { lanes } from "./lanes.js";
import { showView } from "./levels.js";
import { chosen, showAllEvents } from "./places.js";
import { plural } from "./text.js";
import { bases } from "./view.js";

function range(id, label, limits) {
  return make("input", { id, type: "range", "aria-label": label, ...limits });
}

const levelRange = range("level", "Coarser or finer events", {
  min: "0",
  max: String(bases.length - 1),
  step: "1",
});
const levelCount = make("output", { id: "level-count", for: "level" });
levelRange.addEventListener("input", () => showView("level", { level: Number(levelRange.value) }));
document
  .getElementById("tools")
  .append(
    make(
      "div",
      { class: "tool", id: "levels" },
      make("span", { "aria-hidden": "true" }, "Coarser"),
      levelRange,
      make("span", { "aria-hidden": "true" }, "Finer"),
      levelCount,
    ),
  );
document.getElementById("levels").hidden = bases.length < 2;

function renderLevels() {
  levelRange.value = String(state.view.level);
  levelRange.setAttribute("aria-valuetext", plural(events.length, "event"));
  levelCount.textContent = plural(events.length, "event");
}

const leastRange = range("least", "Least confidence of a boundary", {
  min: "0",
  max: "95",
  step: "5",
});
const leastText = make("output", { id: "least-text", for: "least" });
leastRange.addEventListener("input", () =>
  showView("least", { least: Number(leastRange.value) / 100 }),
);
document
  .getElementById("tools")
  .append(
    make(
      "div",
      { class: "tool", id: "confidence" },
      make("span", { "aria-hidden": "true" }, "Least confidence"),
      leastRange,
      leastText,
    ),
  );
document.getElementById("confidence").hidden = !bases.some((base) =>
  base.confidences.some((c) => c !== null),
);

function renderFilter() {
  const least = Math.round(100 * state.view.least);
  leastRange.value = String(least);
  leastRange.setAttribute(
    "aria-valuetext",
    least === 0 ? "any" : `${least}%, ${plural(events.length, "event")}`,
  );
  leastText.textContent = least === 0 ? "any" : `${least}%`;
}

// Several days: a menu that goes to the first event of one.
function dayMenu() {
  const menu = make(
    "select",
    { id: "days", "aria-label": "Go to a day" },
    make("option", { value: "" }, "Go to a day"),
  );
  menu.append(...lanes.map((lane, i) => make("option", { value: String(i) }, lane.label)));
  menu.addEventListener("change", () => {
    if (menu.value !== "") goToDay(lanes[Number(menu.value)]);
    menu.value = "";
  });
  return menu;
}

function goToDay(lane) {
  // An event that began the day before may be the only one.
  const index = Math.max(
    eventAt(lane.first),
    events.findIndex((event) => event.start >= lane.first && event.start < lane.stop),
  );
  if (chosen.size > 0) showAllEvents();
  const row = document.querySelector(`.event[data-event="${index}"]`);
  const heading = row.previousElementSibling?.matches(".new-day")
    ? row.previousElementSibling
    : row;
  heading.scrollIntoView({ block: "start" });
  document.getElementById("live").textContent = `${lane.label}, ${titleOf(index)}`;
}

if (lanes.length > 1)
  document.getElementById("tools").append(make("div", { class: "tool" }, dayMenu()));

export function renderTools() {
  renderLevels();
  renderFilter();
}
