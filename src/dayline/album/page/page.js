// Renders the page and handles clicks, keys and edits.

let rendering = false;

function render(message) {
  rendering = true;
  groupContexts();
  rankContexts();
  const groups = eventsByCommunity();
  renderContexts(groups);
  renderTimeline(groups);
  renderRows(groups);
  renderSummary(groups);
  renderBar();
  renderGraph();
  renderTools();
  if (viewer.open) viewFrame(viewed);
  rendering = false;
  if (message) document.getElementById("live").textContent = message;
}

function renderSummary(groups) {
  const recurring = [...groups.values()].filter((list) => list.length > 1).length;
  const facts = [plural(nFrames, thing), plural(events.length, "event")];
  if (lanes.length > 1) facts.unshift(plural(lanes.length, "day"));
  else if (times !== null) facts.unshift(`${clockText(times[0])} – ${clockText(times[nFrames - 1])}`);
  if (recurring) facts.push(plural(recurring, "recurring context"));
  const summary = document.getElementById("summary");
  summary.replaceChildren(...facts.map((fact) => make("span", {}, fact)));
  if (original.skipped?.length) summary.append(make("a", { href: "#about" }, `${plural(original.skipped.length, "file")} left out`));
}

function renderBar() {
  const bar = document.getElementById("bar");
  bar.hidden = older.length === 0 && newer.length === 0 && kept === null && sameState(state, pageState);
  document.getElementById("undo").disabled = older.length === 0;
  document.getElementById("redo").disabled = newer.length === 0;
  document.getElementById("status").textContent = statusText();
  document.body.classList.toggle("changed", !bar.hidden);
}

// The events along two edges of the graph, in the colours of their contexts.
function renderGraph() {
  for (const [id, side, extent] of [["graph-top", "left", "width"], ["graph-side", "top", "height"]]) {
    const strip = document.getElementById(id);
    if (strip === null) return;
    strip.replaceChildren(...events.map((event, index) => {
      const piece = make("span", { class: `piece ${colourClass(event, index)}` });
      piece.style[side] = `${(100 * event.start) / nFrames}%`;
      piece.style[extent] = `${(100 * (event.stop - event.start)) / nFrames}%`;
      return piece;
    }));
  }
}

function focusRow(index) {
  const row = document.querySelector(`.event[data-event="${index}"]`);
  if (row === null) return;
  row.scrollIntoView({ block: "nearest" });
  row.querySelector(".name").focus({ preventScroll: true });
}

// Marks the event in view on the timeline.
function markCurrent() {
  const below = document.getElementById("day").getBoundingClientRect().bottom + 80;
  const row = document.elementFromPoint(window.innerWidth / 2, below)?.closest(".event");
  document.querySelectorAll(".band .piece").forEach((piece) => piece.classList.toggle("current", row != null && piece.dataset.event === row.dataset.event));
}

const eventList = document.getElementById("events");

eventList.addEventListener("click", (e) => {
  const row = e.target.closest(".event");
  if (row === null) return;
  const frame = e.target.closest("[data-frame]")?.dataset.frame;
  const action = e.target.closest("[data-action]")?.dataset.action;
  const index = Number(row.dataset.event);
  if (frame !== undefined) openViewer(Number(frame));
  else if (action === "play") playFilm(events[index].start);
  else if (action === "merge") { mergeWithPrevious(index); focusRow(index - 1); }
  else if (action !== undefined) openChooser(index, action);
});

eventList.addEventListener("change", (e) => {
  if (!e.target.matches(".name")) return;
  const { event } = e.target.closest(".event");
  const text = e.target.value;
  // Removing the row in which a person types ends the typing, too. The name then waits until the page is rendered.
  if (rendering) queueMicrotask(() => rename(event, text));
  else rename(event, text);
});

eventList.addEventListener("keydown", (e) => {
  if (!e.target.matches(".name")) return;
  const row = e.target.closest(".event");
  if (e.key === "Escape") { e.target.value = row.event.name ?? ""; e.target.blur(); }
  if (e.key === "Enter") e.target.blur();
});

document.addEventListener("keydown", (e) => {
  if (!(e.ctrlKey || e.metaKey) || e.altKey) return;
  const key = e.key.toLowerCase();
  // Text that is being typed has an undo of its own, and a dialog hides what would change, except the enlarged view.
  const elsewhere = typedRow() !== null || document.querySelector("dialog[open]:not(#viewer)") !== null;
  if (key === "s") { finishPlace(); finishTyping(); save(); }
  else if (elsewhere) return;
  else if (key === "z") { if (e.shiftKey) redo(); else undo(); }
  else if (key === "y") redo();
  else return;
  e.preventDefault();
});

document.getElementById("undo").addEventListener("click", undo);
document.getElementById("redo").addEventListener("click", redo);
document.getElementById("save").addEventListener("click", save);
window.addEventListener("beforeprint", () => document.querySelectorAll(".event").forEach(fillRow));
window.addEventListener("scroll", () => { hidePreview(); markCurrent(); }, { passive: true });

document.getElementById("hint").textContent = pictures === null
  ? "Name events, or merge, split and move them."
  : "Click a picture to enlarge it. Name events, or merge, split and move them.";
if (served) document.getElementById("save").textContent = "Save";
render();
restoreStored().then(goToAddress);
