// The page of many sequences: a search that shows only the rows whose name contains every word that
// is typed, whatever its case.

import { comparable, wordsIn } from "./text.js";

const field = document.getElementById("search");
const found = document.getElementById("found");
const rows = Array.from(document.querySelectorAll("#rows > li"), (row) => ({
  row,
  name: comparable(row.querySelector("h2").textContent),
}));

function search() {
  const words = wordsIn(field.value);
  let shown = 0;
  for (const { row, name } of rows) {
    row.hidden = !words.every((word) => name.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  found.textContent = words.length ? `${shown} of ${rows.length}` : "";
}

field.addEventListener("input", search);
field.parentElement.hidden = false; // without scripts there is no search, and no field for it
search(); // browsers keep what was typed when the page is loaded again
