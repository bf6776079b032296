// The list of keys: ? opens it, and so does the button at the top of the page.

import { movie } from "./pictures.js";

const help = document.getElementById("help");

for (const row of help.querySelectorAll("dl > div"))
  if (row.querySelector("dt").textContent === "P") row.hidden = movie === null;

export function openHelp() {
  if (!help.open) help.showModal();
}

help.addEventListener("click", (e) => {
  if (e.target === help || e.target.matches(".close")) help.close();
});
