// Recurring contexts: their names or letters, colours and the filter. Letters do not change while the person edits.

const N_COLOURS = 12;
const contextRanks = new Map();
const contextLetters = new Map();
const chosen = new Set();
const ONCE = "once";
let contextOf = new Map();
let contextGroups = new Map();

function placeOf(community) {
  return places.find((place) => place.community === community) ?? null;
}

function placeName(community) {
  return placeOf(community)?.name?.trim() || null;
}

// Contexts with one name are one place, and so are unnamed ones that were recognized as the same place: each context
// is represented by the first of them.
function groupContexts() {
  contextOf = new Map();
  const first = new Map();
  for (const { community } of events) {
    if (community === null || contextOf.has(community)) continue;
    const name = placeName(community);
    const id = placeOf(community)?.id ?? null;
    const mark = name !== null ? `name ${name}` : id !== null ? `id ${id}` : null;
    if (mark !== null && !first.has(mark)) first.set(mark, community);
    contextOf.set(community, mark === null ? community : first.get(mark));
  }
  contextGroups = new Map();
  for (const event of events) {
    if (event.community === null) continue;
    const context = contextOf.get(event.community);
    if (!contextGroups.has(context)) contextGroups.set(context, []);
    contextGroups.get(context).push(event);
  }
}

function eventsByCommunity() {
  return contextGroups;
}

function framesIn(list) {
  return list.reduce((sum, event) => sum + event.stop - event.start, 0);
}

// Recurring contexts without a name have letters in order of first appearance, as in the exports. Colours are assigned
// to recurring and named contexts first, longest first, so that these get the most distinct ones.
function rankContexts() {
  const groups = eventsByCommunity();
  for (const [context, list] of groups) {
    if (list.length > 1 && placeName(context) === null && !contextLetters.has(context)) contextLetters.set(context, letters(contextLetters.size));
  }
  const matters = ([context, list]) => (list.length > 1 || placeName(context) !== null ? 1 : 0);
  const others = [...groups].filter(([context]) => !contextRanks.has(context));
  others.sort((a, b) => matters(b) - matters(a) || framesIn(b[1]) - framesIn(a[1]));
  for (const [context] of others) contextRanks.set(context, contextRanks.size);
}

// The name of a context, or its letter; null if it occurs only once and has no name.
function contextLabel(community, groups = contextGroups) {
  const context = contextOf.get(community);
  const name = placeName(context);
  if (name !== null) return name;
  return groups.get(context).length > 1 ? contextLetters.get(context) : null;
}

function colourClass(event, index) {
  if (event.community === null) return index % 2 ? "c-none odd" : "c-none";
  const rank = contextRanks.get(contextOf.get(event.community));
  return rank < N_COLOURS ? `c${rank}` : "c-rest";
}

// What the filter calls the context of an event: contexts seen once share a chip.
function chipOf(event, groups) {
  return contextLabel(event.community, groups) === null ? ONCE : contextOf.get(event.community);
}

function isShown(event, groups) {
  if (chosen.size === 0) return true;
  return event.community !== null && chosen.has(chipOf(event, groups));
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
      make("span", { class: "chip-title" }, make("span", { class: "dot", "aria-hidden": "true" }), make("span", { dir: "auto" }, title)),
      make("span", { class: "chip-detail" }, `${plural(list.length, "event")} · ${timeIn(list)}`)));
  button.addEventListener("click", () => toggleContext(which));
  return button;
}

function renderContexts(groups) {
  const box = document.getElementById("chips");
  const once = [];
  const chips = [];
  for (const [context, list] of groups) {
    const label = contextLabel(context, groups);
    if (label === null) { once.push(...list); continue; }
    chips.push(make("span", { class: "chip-box" }, chip(context, label, list, colourClass(list[0], 0)), placeButton(label, () => openPlaceDialog(context, null))));
  }
  const recurring = chips.length;
  for (const which of chosen) {
    if (which === ONCE ? once.length === 0 : !groups.has(which)) chosen.delete(which);
  }
  if (recurring > 0 && once.length > 0) chips.push(chip(ONCE, "Seen once", once, "c-none"));
  if (chosen.size > 0) {
    const all = make("button", { type: "button", class: "quiet", id: "show-all-events" }, "Show all events");
    all.addEventListener("click", () => { chosen.clear(); render("All events shown"); });
    chips.push(all);
  }
  const focused = document.activeElement?.dataset?.context;
  box.replaceChildren(...chips);
  if (focused !== undefined) box.querySelector(`[data-context="${focused}"]`)?.focus();
  document.getElementById("contexts").hidden = recurring === 0;
}
