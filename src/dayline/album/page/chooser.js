// A dialog to choose the first frame of an event by clicking a picture: to move a boundary, or to
// split an event.

import { closeButton, make, makeButton, moveWithArrows } from "./elements.js";
import { eventAt, events, moveStart, splitAt, titleOf } from "./events.js";
import { frameText, thing, timeOf } from "./frames.js";
import { isLeftOut } from "./marks.js";
import { frameButton } from "./pictures.js";
import { colorClass } from "./places.js";
import { CHUNK, focusRow } from "./rows.js";

const chooser = document.getElementById("chooser");
const WINDOW = 30;

export function openChooser(index, kind) {
  const event = events[index];
  const moving = kind === "move";
  const first = moving ? events[index - 1].start + 1 : event.start + 1;
  const from = moving ? Math.max(first, event.start - WINDOW) : first;
  const to = Math.min(event.stop, moving ? event.start + WINDOW : from + CHUNK);
  const grid = make("div", { class: "grid" });
  moveWithArrows(grid);

  const title = moving
    ? `Where does ${titleOf(index)} begin?`
    : `Where does a new event begin within ${titleOf(index)}?`;
  const rest = moving ? `join ${titleOf(index - 1)}` : `stay in ${titleOf(index)}`;
  const text = `Choose its first ${thing}. Earlier ${thing}s ${rest}.`;
  const close = closeButton("Close without changes", () => chooser.close());
  chooser.replaceChildren(
    make(
      "div",
      { class: "chooser-head" },
      make("div", {}, make("h2", { id: "chooser-title", dir: "auto" }, title), make("p", {}, text)),
      close,
    ),
    grid,
  );

  const limits = { first, stop: event.stop };
  fillChooser(grid, from, to, limits, (frame) => {
    chooser.close();
    if (moving) moveStart(index, frame);
    else splitAt(frame);
    focusRow(eventAt(frame));
  });

  chooser.showModal();
  const start =
    grid.querySelector(`[data-frame="${moving ? event.start : from}"]`) ??
    grid.querySelector("[data-frame]");
  start.tabIndex = 0;
  start.focus();
  start.scrollIntoView({ block: "center" });
}

function fillChooser(grid, from, to, limits, choose) {
  const more = (text, low, high) =>
    makeButton(
      { class: "thumb more" },
      () => {
        grid.replaceChildren();
        fillChooser(grid, low, high, limits, choose);
        (
          grid.querySelector(`[data-frame="${low < from ? from - 1 : to}"]`) ??
          grid.firstElementChild
        ).focus();
      },
      text,
    );
  if (from > limits.first) grid.append(more("earlier", Math.max(limits.first, from - CHUNK), to));
  for (let frame = from; frame < to; frame += 1) if (!isLeftOut(frame)) grid.append(choice(frame));
  if (to < limits.stop) grid.append(more("later", from, Math.min(limits.stop, to + CHUNK)));
  grid.onclick = (e) => {
    const frame = e.target.closest("[data-frame]")?.dataset.frame;
    if (frame !== undefined) choose(Number(frame));
  };
  grid.onfocusin = (e) => markChoice(grid, e.target);
  grid.onpointerover = (e) => markChoice(grid, e.target.closest("[data-frame]"));
}

function choice(frame) {
  const own = eventAt(frame);
  const button = frameButton(frame, `thumb ${colorClass(events[own], own)}`);
  if (frame === events[own].start) button.setAttribute("aria-current", "true");
  button.append(
    make(
      "span",
      { class: "thumb-time", "aria-hidden": "true" },
      timeOf(frame) === null ? String(frame) : frameText(frame),
    ),
  );
  return button;
}

// Marks the pictures that would be before the boundary.
function markChoice(grid, button) {
  const frame = Number(button?.dataset?.frame ?? NaN);
  for (const other of grid.children)
    other.classList.toggle("before", Number(other.dataset.frame) < frame);
}

chooser.addEventListener("click", (e) => {
  if (e.target === chooser) chooser.close();
});
