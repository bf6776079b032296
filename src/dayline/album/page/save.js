// Saving: into the result if `dayline view` serves the page, else as a download. Says what is stored where.

const served = location.protocol === "http:" && location.hostname === "127.0.0.1" && location.pathname.startsWith("/dayline-");
let saving = false;

function dateText(at) {
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "long" });
}

function isToday(at) {
  return new Date(at).toDateString() === new Date().toDateString();
}

function timeOfDay(at) {
  const date = new Date(at);
  return `at ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function whenText(at) {
  return isToday(at) ? timeOfDay(at) : `on ${dateText(at)} ${timeOfDay(at)}`;
}

// One line about the current state: where it is, and since when.
function statusText() {
  if (saving) return "Saving";
  if (kept !== null && state === kept.state) return kept.where === DOWNLOAD ? `Downloaded as events.json ${whenText(kept.at)}` : `Saved in ${kept.where} ${whenText(kept.at)}`;
  const count = countChanges(pageState, state);
  return count === 0 ? "No changes" : `${plural(count, "change")}, ${problem === null ? "in this browser" : PROBLEMS[problem]}`;
}

// The same text as dayline writes: plain ASCII, so that names of invalid UTF-8 survive too.
function eventsJson() {
  const text = JSON.stringify({ ...original, ...state, levels: levelsToSave() }, null, 1);
  return text.replace(/[\u0080-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) + "\n";
}

function save() {
  if (served) saveInResult();
  else download();
}

function download() {
  const address = URL.createObjectURL(new Blob([eventsJson()], { type: "application/json" }));
  const link = make("a", { href: address, download: "events.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  kept = { state, where: DOWNLOAD, at: Date.now() };
  storeState();
  showCommand();
  render("events.json downloaded");
}

function quoted(path, windows) {
  if (/^[\w@%+=:,./~-]+$/.test(path)) return path;
  return windows ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}

// The page itself names no folder, since people share it; where it was opened from is known only here.
function nextCommand() {
  if (location.protocol !== "file:") return "dayline view OUT --corrections ~/Downloads/events.json";
  const path = decodeURIComponent(location.pathname.slice(0, location.pathname.lastIndexOf("/")));
  const windows = /^\/[A-Za-z]:/.test(path);
  const folder = windows ? path.slice(1) : path || "/";
  return `dayline view ${quoted(folder, windows)} --corrections ~/Downloads/events.json`;
}

function showCommand() {
  // A line break within an option would be hard to read.
  const words = nextCommand().split(" ").flatMap((word, i) => [i > 0 ? " " : "", make("span", {}, word)]);
  const command = make("code", { class: "command", tabindex: "0" }, ...words);
  const text = make("span", {}, "To put the downloaded file into the result, run this with the name that your browser gave it:", command);
  notify("command", text, [["Copy", (e) => copy(command, e.target)]]);
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
      if (answer.notes.length > 0) notify("save", `Saved, but: ${answer.notes.join("; ")}.`, []);
    } else failure = answer.error;
  } catch {
    failure = "dayline view does not answer; start it again with the same command";
  }
  saving = false;
  if (failure !== null) notify("save", `Not saved: ${failure}.`, [["Try again", save]]);
  render(failure === null ? "Saved" : "Not saved");
}

// Messages above the bar, one per kind, each with what can be done about it.
function notify(kind, text, actions) {
  closeNotice(kind);
  const box = make("div", { class: "notice", "data-notice": kind }, make("p", {}, text));
  for (const [label, action] of actions) {
    const button = make("button", { type: "button", class: "quiet" }, label);
    button.addEventListener("click", action);
    box.append(button);
  }
  if (kind !== "earlier" && kind !== "other-tab") {
    const close = make("button", { type: "button", class: "close", "aria-label": "Close this message" }, "×");
    close.addEventListener("click", () => closeNotice(kind));
    box.append(close);
  }
  document.getElementById("notices").append(box);
}

function closeNotice(kind) {
  document.querySelector(`.notice[data-notice="${kind}"]`)?.remove();
}

// What is being typed becomes part of the state, without waiting until the person leaves the field.
function finishTyping() {
  const field = document.activeElement;
  if (!field?.matches?.("input")) return;
  field.blur();
  field.focus({ preventScroll: true });
}

window.addEventListener("beforeunload", (e) => {
  finishTyping();
  if (unsavedChanges() > 0 || placeIsTyped()) e.preventDefault();
});
