// Recurring contexts: their letters, colours and the filter. Letters do not change while the person edits.

const N_COLOURS = 12;
const contextRanks = new Map();
const contextPlaces = new Map();
const chosen = new Set();
const ONCE = "once";

function eventsByCommunity() {
  const groups = new Map();
  for (const event of events) {
    if (event.community === null) continue;
    if (!groups.has(event.community)) groups.set(event.community, []);
    groups.get(event.community).push(event);
  }
  return groups;
}

function framesIn(list) {
  return list.reduce((sum, event) => sum + event.stop - event.start, 0);
}

// Letters follow first appearance, as in the exports. Colours are assigned to recurring contexts first, longest
// first, so that these get the most distinct ones.
function rankContexts() {
  for (const { community } of events) {
    if (community !== null && !contextPlaces.has(community)) contextPlaces.set(community, contextPlaces.size);
  }
  const groups = [...eventsByCommunity()].filter(([community]) => !contextRanks.has(community));
  groups.sort(([, a], [, b]) => (b.length > 1) - (a.length > 1) || framesIn(b) - framesIn(a));
  for (const [community] of groups) contextRanks.set(community, contextRanks.size);
}

function contextLetter(community) {
  let place = contextPlaces.get(community);
  let letters = "";
  do {
    letters = String.fromCharCode(65 + (place % 26)) + letters;
    place = Math.floor(place / 26) - 1;
  } while (place >= 0);
  return letters;
}

function colourClass(event, index) {
  if (event.community === null) return index % 2 ? "c-none odd" : "c-none";
  const rank = contextRanks.get(event.community);
  return rank < N_COLOURS ? `c${rank}` : "c-rest";
}

function isShown(event, groups) {
  if (chosen.size === 0) return true;
  return chosen.has(event.community) || (chosen.has(ONCE) && event.community !== null && groups.get(event.community).length === 1);
}

function toggleContext(which) {
  if (!chosen.delete(which)) chosen.add(which);
  render(chosen.size ? "Events filtered" : "All events shown");
}

function timeIn(list) {
  const durations = list.map(eventDuration);
  return durations.includes(null) ? plural(framesIn(list), thing) : durationText(durations.reduce((a, b) => a + b, 0));
}

function chip(which, title, list, colour) {
  const longest = list.reduce((a, b) => (b.stop - b.start > a.stop - a.start ? b : a));
  const button = make("button", { type: "button", class: `chip ${colour}`, "aria-pressed": String(chosen.has(which)), "data-context": String(which) },
    pictureOf(keyFrame(longest), "chip-picture"),
    make("span", { class: "chip-text" },
      make("span", { class: "chip-title" }, make("span", { class: "dot", "aria-hidden": "true" }), title),
      make("span", { class: "chip-detail" }, `${plural(list.length, "event")} · ${timeIn(list)}`)));
  button.addEventListener("click", () => toggleContext(which));
  return button;
}

function renderContexts(groups) {
  const box = document.getElementById("chips");
  const ordered = [...groups].sort(([a], [b]) => contextPlaces.get(a) - contextPlaces.get(b));
  const recurring = ordered.filter(([, list]) => list.length > 1);
  const once = ordered.filter(([, list]) => list.length === 1).map(([, list]) => list[0]);
  for (const which of chosen) {
    if (which === ONCE ? once.length === 0 : !groups.has(which)) chosen.delete(which);
  }
  const chips = recurring.map(([community, list]) => chip(community, contextLetter(community), list, colourClass(list[0], 0)));
  if (recurring.length > 0 && once.length > 0) chips.push(chip(ONCE, "Seen once", once, "c-none"));
  if (chosen.size > 0) {
    const all = make("button", { type: "button", class: "quiet", id: "show-all-events" }, "Show all events");
    all.addEventListener("click", () => { chosen.clear(); render("All events shown"); });
    chips.push(all);
  }
  const focused = document.activeElement?.dataset?.context;
  box.replaceChildren(...chips);
  if (focused !== undefined) chips.find((c) => c.dataset.context === focused)?.focus();
  document.getElementById("contexts").hidden = recurring.length === 0;
}
