// Saving: into the result if `dayline view` serves the page and can write there, else as a
// download. Says what is stored where.

import { countChanges, sameState } from "./changes.js";
import { make } from "./elements.js";
import { events, newer, older, places, refresh, state } from "./events.js";
import { original } from "./frames.js";
import { levelsToSave } from "./levels.js";
import { withoutTheirLocations } from "./marks.js";
import { closeNotice, notify } from "./notices.js";
import { placeIsTyped } from "./places.js";
import { finishTyping } from "./rows.js";
import { served, writable } from "./served.js";
import {
  DOWNLOAD,
  PROBLEMS,
  base,
  isKept,
  kept,
  pageState,
  problem,
  storeSaved,
  unsavedChanges,
  wasDownloaded,
} from "./store.js";
import { plural, whenText } from "./text.js";

let saving = false;

// One line about the current state: where it is, and since when.
function statusText() {
  if (saving) return "Saving";
  if (isKept(state))
    return kept.where === DOWNLOAD
      ? `Downloaded as events.json ${whenText(kept.at)}`
      : `Saved in ${kept.where} ${whenText(kept.at)}`;
  const count = countChanges(pageState, state);
  return count === 0
    ? "No changes"
    : `${plural(count, "change")}, ${problem === null ? "in this browser" : PROBLEMS[problem]}`;
}

// The same text as dayline writes: plain ASCII, so that names of invalid UTF-8 survive too.
function eventsJson() {
  const text = JSON.stringify(
    {
      ...original,
      events: withoutTheirLocations(events),
      places,
      levels: levelsToSave(),
      favorites: state.favorites,
      hidden: state.hidden,
    },
    null,
    1,
  );
  return (
    text.replace(/[\u0080-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) +
    "\n"
  );
}

export function save() {
  if (writable) saveInResult();
  else download();
}

function download() {
  const address = URL.createObjectURL(new Blob([eventsJson()], { type: "application/json" }));
  const link = make("a", { href: address, download: "events.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  wasDownloaded();
  showCommand();
  refresh("events.json downloaded");
}

function quoted(path, windows) {
  if (/^[\w@%+=:,./~-]+$/.test(path)) return path;
  return windows ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}

// The page itself names no folder, since people share it; where it was opened from, or saved to, is
// known only here.
function folderOfPage() {
  if (served && isKept(state) && kept.where !== DOWNLOAD)
    return quoted(kept.where, /^[A-Za-z]:/.test(kept.where));
  if (location.protocol !== "file:") return "OUT";
  const path = decodeURIComponent(location.pathname.slice(0, location.pathname.lastIndexOf("/")));
  const windows = /^\/[A-Za-z]:/.test(path);
  return quoted(windows ? path.slice(1) : path || "/", windows);
}

function showCommand() {
  const target = served
    ? "This result cannot be written. To put the downloaded file into a copy of it"
    : "To put the downloaded file into the result";
  offerCommand(
    "command",
    `${target}, run this with the name that your browser gave it:`,
    `dayline view ${served ? "COPY" : folderOfPage()} --corrections ~/Downloads/events.json`,
  );
}

// A page cannot write files: this says how.
export function showHowToShare() {
  const first = unsavedChanges() > 0 ? "Save first. " : "";
  offerCommand(
    "share",
    `${first}This writes one file to send, without hidden photos, places and file names:`,
    `dayline share ${folderOfPage()} -o day.html`,
  );
}

function offerCommand(name, before, line) {
  // A line break within an option would be hard to read.
  const words = line.split(" ").flatMap((word, i) => [i > 0 ? " " : "", make("span", {}, word)]);
  const command = make("code", { class: "command", tabindex: "0" }, ...words);
  const text = make("span", {}, before, command);
  notify(name, text, { Copy: (e) => copy(command, e.target) });
}

async function copy(element, button) {
  try {
    await navigator.clipboard.writeText(element.textContent);
  } catch {
    getSelection().selectAllChildren(element);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
}

async function saveInResult() {
  if (saving) return;
  saving = true;
  const sent = state;
  closeNotice("save");
  renderBar();
  let failure = null;
  try {
    const headers = { "Content-Type": "application/json", "Dayline-Base": base };
    const response = await fetch("events.json", { method: "POST", headers, body: eventsJson() });
    const answer = await response.json();
    if (response.ok) {
      storeSaved(sent, { at: Date.now(), folder: answer.folder, base: answer.base });
      if (answer.notes.length > 0) notify("save", `Saved, but: ${answer.notes.join("; ")}.`, {});
    } else failure = answer.error;
  } catch {
    failure = "dayline view does not answer; start it again with the same command";
  }
  saving = false;
  if (failure !== null) notify("save", `Not saved: ${failure}.`, { "Try again": save });
  refresh(failure === null ? "Saved" : "Not saved");
}

window.addEventListener("beforeunload", (e) => {
  finishTyping();
  if (unsavedChanges() > 0 || placeIsTyped()) e.preventDefault();
});

export function renderBar() {
  const bar = document.getElementById("bar");
  bar.hidden =
    older.length === 0 && newer.length === 0 && kept === null && sameState(state, pageState);
  document.getElementById("undo").disabled = older.length === 0;
  document.getElementById("redo").disabled = newer.length === 0;
  document.getElementById("status").textContent = statusText();
  document.body.classList.toggle("changed", !bar.hidden);
}
