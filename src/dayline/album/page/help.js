// The list of keys: ? opens it, and so does the button at the top of the page.

import { closeButton, make } from "./elements.js";
import { thing } from "./frames.js";
import { movie } from "./pictures.js";

const help = document.getElementById("help");
const KEYS = [
  [
    "Everywhere",
    [
      ["?", "this list"],
      ["Ctrl Z", "undo"],
      ["Ctrl Shift Z", "redo"],
      ["Ctrl S", "save"],
      ["Tab", "to the next control"],
    ],
  ],
  [
    "Timeline",
    [
      ["← →", `previous, next ${thing}`],
      ["Page Up  Page Down", "previous, next event"],
      ["Home  End", "first, last"],
      ["Enter", "enlarge"],
    ],
  ],
  [
    "Coarser and finer, confidence",
    [
      ["← →", "one step"],
      ["Home  End", "coarsest and finest, all and surest"],
    ],
  ],
  [
    "Pictures in a row, choosing a boundary",
    [
      ["← → ↑ ↓", "previous, next"],
      ["Enter", "enlarge, choose"],
      ["Esc", "close without changes"],
    ],
  ],
  [
    "Enlarged view",
    [
      ["← →", `previous, next ${thing}`],
      ["↑ ↓", "previous, next event"],
      ["Home  End", "first, last"],
      ["S", `new event from this ${thing}`],
      ["M", "merge with the previous event"],
      ["B  E", "event begins, ends here"],
      ["K", `use as key ${thing}`],
      ...(movie === null ? [] : [["P", "play, pause"]]),
      ["Esc", "close"],
    ],
  ],
];

function fillHelp() {
  const groups = KEYS.map(([title, keys]) =>
    make(
      "section",
      {},
      make("h3", {}, title),
      make(
        "dl",
        {},
        ...keys.map(([key, what]) =>
          make(
            "div",
            {},
            make("dt", {}, ...key.split("  ").map((one) => make("kbd", {}, one))),
            make("dd", {}, what),
          ),
        ),
      ),
    ),
  );

  help.append(
    make(
      "div",
      { class: "chooser-head" },
      make("h2", { id: "help-title" }, "Keys"),
      closeButton("Close", () => help.close()),
    ),
    make("div", { class: "help-groups" }, ...groups),
  );
}

export function openHelp() {
  if (help.childElementCount === 0) fillHelp();
  if (!help.open) help.showModal();
}

help.addEventListener("click", (e) => {
  if (e.target === help) help.close();
});
