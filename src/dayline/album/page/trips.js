// Trips, and the names that a person gives them.

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

async function saveName(trip, number, folders) {
  said.textContent = "Saving";
  let problem = "dayline view does not answer; start it again with the same command";
  try {
    const body = JSON.stringify({ days: trip[2].map((day) => folders[day]), name: trip[0] ?? "" });
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("trips.json", { method: "POST", headers, body });
    problem = response.ok ? null : (await response.json()).error;
  } catch {
    // It is told below.
  }
  said.textContent = problem === null ? "Saved" : `Not saved: ${problem}.`;
  if (problem !== null) return false;
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
    const before = trip[0];
    trip[0] = field.value.trim() || null;
    if (await saveName(trip, number, data.folders)) close();
    else trip[0] = before;
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
    const trip = data.trips[number];
    trip[0] = entry;
    if (await saveName(trip, number, data.folders)) button.remove();
    else trip[0] = null;
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

// What the search knows of a day: the name of its trip, and its title before.
export function tripText(data, day) {
  const trip = (data.trips ?? []).find(([, , days]) => days.includes(day));
  return trip === undefined ? "" : `${trip[0] ?? ""} ${trip[1]}`;
}
