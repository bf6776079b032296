// Trips and days, and the names that a person gives them.

import { make, makeButton } from "./elements.js";
import { writable } from "./served.js";

const LONGEST_NAME = 200;
const said = document.getElementById("trips-said");

// The link in the list of trips, and what the days of the trip show of it.
function shownNames(number) {
  return document.querySelectorAll(`[data-trip="${number}"]`);
}

function nameOf([name, title]) {
  return name ?? title;
}

// Returns whether the name of these days was saved, and says so.
async function saveName(folders, name, status) {
  status.textContent = "Saving";
  let problem = "dayline view does not answer; start it again with the same command";
  try {
    const body = JSON.stringify({ days: folders, name: name ?? "" });
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("trips.json", { method: "POST", headers, body });
    problem = response.ok ? null : (await response.json()).error;
  } catch {
    // It is told below.
  }
  status.textContent = problem === null ? "Saved" : `Not saved: ${problem}.`;
  return problem === null;
}

async function saveTrip(data, number, name) {
  const trip = data.trips[number];
  const folders = trip[2].map((day) => data.folders[day]);
  if (!(await saveName(folders, name, said))) return false;
  trip[0] = name;
  for (const place of shownNames(number)) place.textContent = nameOf(trip);
  return true;
}

// Replaces a heading by a field until the name is saved, or Escape takes it back.
function editName(data, number, button) {
  const trip = data.trips[number];
  const heading = button.closest("li").querySelector("h3");
  const about = { class: "trip-name", type: "text", dir: "auto", maxlength: LONGEST_NAME };
  const field = make("input", { ...about, "aria-label": "Name of the trip" });
  field.value = trip[0] ?? "";
  field.placeholder = trip[1];
  const close = () => {
    field.remove();
    heading.hidden = button.hidden = false;
    button.focus();
  };
  field.addEventListener("keydown", async (e) => {
    if (e.key === "Escape") close();
    if (e.key !== "Enter") return;
    if (await saveTrip(data, number, field.value.trim() || null)) close();
  });
  heading.hidden = button.hidden = true;
  heading.after(field);
  field.focus();
}

// The entry of the calendar that is on at least half of the days of a trip without a name.
function suggestionFor(data, [name, , days]) {
  if (name !== null) return null;
  const counts = new Map();
  for (const day of days)
    for (const entry of data.days[day]?.entries ?? [])
      counts.set(entry, (counts.get(entry) ?? 0) + 1);
  const [best, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [null, 0];
  return 2 * count >= days.length ? best : null;
}

function suggestionButton(data, number) {
  const entry = suggestionFor(data, data.trips[number]);
  if (entry === null) return "";
  const about = { class: "suggestion", dir: "auto", title: "From your calendar" };
  const take = async () => {
    if (await saveTrip(data, number, entry)) button.remove();
  };
  const button = makeButton(about, take, `Name it “${entry}”`);
  return button;
}

export function renderTrips(data) {
  if (!writable) {
    if (said !== null) said.textContent = "To name trips, open this album with dayline view OUT.";
    return;
  }
  document.querySelectorAll(".trips > li").forEach((row, number) => {
    const label = `Rename ${nameOf(data.trips[number])}`;
    const about = { class: "more rename", "aria-label": label };
    const button = makeButton(about, () => editName(data, number, button), "Rename");
    row.querySelector("p").after(button, suggestionButton(data, number));
  });
}

// The entries of the calendar for a whole day, as names of the day; a name can be taken back.
export function renderDayNames(data) {
  if (!writable) return;
  const away = new Set(data.trips.flatMap(([, , days]) => days));
  data.days.forEach((day, index) => {
    if (day === null || away.has(index)) return;
    if (data.named[index] === undefined && day.entries.length === 0) return;
    const shown = document.querySelector(`#day-${index + 1} .from-calendar`);
    const status = make("span", { class: "soft", role: "status" });
    const draw = () => {
      const name = data.named[index];
      const set = async (wanted) => {
        if (!(await saveName([data.folders[index]], wanted, status))) return;
        if (wanted === null) delete data.named[index];
        else data.named[index] = wanted;
        draw();
        shown.querySelector("button")?.focus();
      };
      const about = { class: "suggestion", dir: "auto" };
      const ways = name
        ? [makeButton({ class: "more" }, () => set(null), "Remove the name")]
        : day.entries.map((entry) => makeButton(about, () => set(entry), `Name it “${entry}”`));
      shown.replaceChildren(name ?? "", ...ways, status);
    };
    draw();
  });
}

// What the search knows of a day: the name of its trip, and its title before.
export function tripText(data, day) {
  const trip = (data.trips ?? []).find(([, , days]) => days.includes(day));
  return trip === undefined ? "" : `${trip[0] ?? ""} ${trip[1]}`;
}
