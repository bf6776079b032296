// The page of many sequences: a search that shows only the rows whose name and titles contain every
// word that is typed, whatever its case, and of their titles those that have a word of it.

import { comparable, wordsIn } from "./text.js";

const field = document.getElementById("search");
const found = document.getElementById("found");
const rows = Array.from(document.querySelectorAll("#rows > li"), (row) => ({
  row,
  name: comparable(row.querySelector("h2").textContent),
  details: row.querySelector("details"),
  titles: Array.from(row.querySelectorAll(".titles > li"), (item) => ({
    item,
    text: comparable(item.querySelector("a").textContent),
  })),
}));

function search() {
  const words = wordsIn(field.value);
  let shown = 0;
  for (const { row, name, details, titles } of rows) {
    const texts = [name, ...titles.map(({ text }) => text)];
    row.hidden = !words.every((word) => texts.some((text) => text.includes(word)));
    shown += row.hidden ? 0 : 1;

    const meant = titles.filter(({ text }) => words.some((word) => text.includes(word)));
    for (const title of titles) title.item.hidden = meant.length > 0 && !meant.includes(title);
    if (details) details.open = meant.length > 0;
  }
  found.textContent = words.length ? `${shown} of ${rows.length}` : "";
}

field.addEventListener("input", search);
field.parentElement.hidden = false; // without scripts there is no search, and no field for it
search(); // browsers keep what was typed when the page is loaded again
