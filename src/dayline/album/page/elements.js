// Elements of the pages; strings are inserted as text, never as HTML.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function svgElement(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function makeButton(attributes, action, ...children) {
  const button = make("button", { type: "button", ...attributes }, ...children);
  button.addEventListener("click", action);
  return button;
}

export function closeButton(label, action) {
  return makeButton({ class: "close", "aria-label": label }, action, "×");
}

// A key for the whole page, unless something is typed.
export function onKey(key, action) {
  document.addEventListener("keydown", (e) => {
    const isTyping = e.target.matches?.("input:not([type=range]), textarea, select");
    if (e.key !== key || e.ctrlKey || e.metaKey || e.altKey || isTyping) return;
    e.preventDefault();
    action();
  });
}

// One stop for the Tab key; arrow keys move inside.
export function moveWithArrows(box, { selector = "button", columns = null } = {}) {
  box.addEventListener("keydown", (e) => {
    const buttons = [...box.querySelectorAll(selector)];
    const now = buttons.indexOf(document.activeElement);
    if (now < 0) return;
    const inFirstRow = buttons.filter((b) => b.offsetTop === buttons[0].offsetTop);
    const across = columns ?? Math.max(1, inFirstRow.length);
    const step = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -across,
      ArrowDown: across,
      Home: -now,
      End: buttons.length - 1 - now,
    }[e.key];
    if (step === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    const next = buttons[Math.min(buttons.length - 1, Math.max(0, now + step))];
    buttons[now].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
