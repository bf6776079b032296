// Messages above the bar, one per kind, each with what can be done about it.

import { closeButton, make, makeButton } from "./elements.js";

export function notify(kind, text, actions) {
  closeNotice(kind);
  openedFrom = document.activeElement;
  const box = make("div", { class: "notice", "data-notice": kind }, make("p", {}, text));
  for (const [label, action] of Object.entries(actions)) {
    box.append(makeButton({ class: "quiet" }, action, label));
  }
  if (kind !== "earlier" && kind !== "other-tab") {
    box.append(closeButton("Close this message", () => closeNotice(kind)));
  }
  document.getElementById("notices").append(box);
}

// Escape closes the newest message that can be closed, and returns to what was used before.
let openedFrom = null;
document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape" || document.querySelector("dialog[open]") !== null) return;
  const newest = [...document.querySelectorAll(".notice:has(.close)")].at(-1);
  if (newest === undefined) return;
  const hadFocus = newest.contains(document.activeElement);
  newest.remove();
  if (hadFocus) openedFrom?.focus();
});

export function closeNotice(kind) {
  document.querySelector(`.notice[data-notice="${kind}"]`)?.remove();
}
