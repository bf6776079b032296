// The controls above the list: coarser and finer, the least confidence of a boundary, and a menu of
// days.

import { make } from "./elements.js";
import { eventAt, events, state, titleOf } from "./events.js";
import { lanes } from "./lanes.js";
import { showView } from "./levels.js";
import { chosen, showAllEvents } from "./places.js";
import { plural } from "./text.js";
import { bases } from "./view.js";

const levelRange = document.getElementById("level");
const leastRange = document.getElementById("least");
const dayMenu = document.getElementById("days");

levelRange.max = String(bases.length - 1);
levelRange.addEventListener("input", () => showView("level", { level: Number(levelRange.value) }));
document.getElementById("levels").hidden = bases.length < 2;

leastRange.addEventListener("input", () =>
  showView("least", { least: Number(leastRange.value) / 100 }),
);
document.getElementById("confidence").hidden = !bases.some((base) =>
  base.confidences.some((c) => c !== null),
);

// Several days: a menu that goes to the first event of one.
dayMenu.append(...lanes.map((lane, i) => make("option", { value: String(i) }, lane.label ?? "")));
dayMenu.addEventListener("change", () => {
  if (dayMenu.value !== "") goToDay(lanes[Number(dayMenu.value)]);
  dayMenu.value = "";
});
document.getElementById("day-menu").hidden = lanes.length < 2;

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

export function renderTools() {
  const count = plural(events.length, "event");
  levelRange.value = String(state.view.level);
  levelRange.setAttribute("aria-valuetext", count);
  document.getElementById("level-count").textContent = count;

  const least = Math.round(100 * state.view.least);
  leastRange.value = String(least);
  leastRange.setAttribute("aria-valuetext", least === 0 ? "any" : `${least}%, ${count}`);
  document.getElementById("least-text").textContent = least === 0 ? "any" : `${least}%`;
}
