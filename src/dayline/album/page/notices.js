// Messages above the bar, one per kind, each with what can be done about it.

import { closeButton, make, makeButton } from "./elements.js";

export function notify(kind, text, actions) {
  closeNotice(kind);
  const box = make("div", { class: "notice", "data-notice": kind }, make("p", {}, text));
  for (const [label, action] of Object.entries(actions)) {
    box.append(makeButton({ class: "quiet" }, action, label));
  }
  if (kind !== "earlier" && kind !== "other-tab") {
    box.append(closeButton("Close this message", () => closeNotice(kind)));
  }
  document.getElementById("notices").append(box);
}

export function closeNotice(kind) {
  document.querySelector(`.notice[data-notice="${kind}"]`)?.remove();
}
