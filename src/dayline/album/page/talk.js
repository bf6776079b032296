// What is said in the events, and the search for it. Texts of others are inserted as text only.

import { make } from "./elements.js";
import { clockText, original, timeOf } from "./frames.js";
import { plural } from "./text.js";

const FIRST = 160; // characters of an event that are shown while it is folded

export const hasTalk = Boolean(original.texts);

function sentencesOf(event) {
  const frames = Array.from({ length: event.stop - event.start }, (_, i) => event.start + i);
  return frames.filter((frame) => original.texts[frame] !== "");
}

// The text with all that matches marked.
function highlighted(text, words) {
  if (words === "") return [text];
  const parts = [];
  const lower = text.toLowerCase();
  // A few letters have another length in lower case; then nothing is marked.
  if (lower.length !== text.length) return [text];
  let from = 0;
  for (let at = lower.indexOf(words); at >= 0; at = lower.indexOf(words, from)) {
    parts.push(text.slice(from, at), make("mark", {}, text.slice(at, at + words.length)));
    from = at + words.length;
  }
  return [...parts, text.slice(from)];
}

function line(frame, words) {
  const time = timeOf(frame) === null ? "" : clockText(timeOf(frame));
  const text = make("span", { dir: "auto" }, ...highlighted(original.texts[frame], words));
  return make("p", {}, make("time", {}, time), text);
}

// What is said in an event, folded; the sentences are added when it is opened.
export function spokenIn(event) {
  const frames = sentencesOf(event);
  const first = frames.map((frame) => original.texts[frame]).join(" ");
  const short = first.length > FIRST ? `${first.slice(0, FIRST).replace(/\s\S*$/, "")} …` : first;
  const box = make("details", { class: "said" }, make("summary", { dir: "auto" }, short));
  box.hidden = frames.length === 0;
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1)
      box.append(...frames.map((frame) => line(frame, "")));
  });
  return box;
}

// Shows only the events in which the words are said, opened at their sentences.
export function findWords() {
  const words = document.getElementById("find")?.value.trim().toLowerCase() ?? "";
  let count = 0;
  for (const row of document.querySelectorAll(".event")) {
    const box = row.querySelector(".said");
    if (box === null || (words === "" && row.words === undefined)) continue;
    const hits = sentencesOf(row.event).filter((frame) =>
      original.texts[frame].toLowerCase().includes(words),
    );
    count += hits.length;
    row.classList.toggle("unfound", words !== "" && hits.length === 0);
    if (row.words === words) continue;
    row.words = words === "" ? undefined : words;
    [...box.children].slice(1).forEach((child) => child.remove());
    if (words !== "") box.append(...hits.map((frame) => line(frame, words)));
    box.open = words !== "" && hits.length > 0;
  }
  const found = document.getElementById("found");
  if (found !== null) found.textContent = words === "" ? "" : plural(count, "sentence");
}
