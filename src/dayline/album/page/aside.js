// Screenshots and the like, which are in no event: a folded strip at the end of the page. Their
// numbers follow that of the last frame.

import { make, moveWithArrows } from "./elements.js";
import { clockText, data, nFrames, original, pictures } from "./frames.js";
import { openAside } from "./viewer.js";

export function renderAside() {
  const strip = document.getElementById("aside-strip");
  if (strip === null) return;
  const buttons = original.set_aside.map((file, i) => {
    const frame = nFrames + i;
    const time = file.time === null ? null : clockText(file.time);
    const label = [time, file.kind, file.name].filter(Boolean).join(", ");
    const attributes = { type: "button", class: "thumb", tabindex: "-1", title: label };
    const button = make("button", { ...attributes, "data-frame": String(frame) });
    button.setAttribute("aria-label", label);
    if (pictures[frame]) {
      const about = { class: "thumb-picture", loading: "lazy", alt: "", src: pictures[frame] };
      button.append(make("img", about));
      button.style.setProperty("--ratio", data.ratios[frame]);
    } else button.append(file.name);
    return button;
  });
  buttons[0].tabIndex = 0;
  strip.append(...buttons);
  moveWithArrows(strip);
  strip.addEventListener("click", (e) => {
    const frame = e.target.closest("[data-frame]")?.dataset.frame;
    if (frame !== undefined) openAside(Number(frame));
  });
}

// Where the search of the album leads to.
export function openAsideList() {
  const list = document.getElementById("aside");
  if (list === null) return;
  list.open = true;
  list.scrollIntoView({ block: "start", behavior: "instant" });
}
