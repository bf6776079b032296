// Links to the photos themselves, and playing a film in the enlarged view.

// A page that is served does not reach files outside its folder, except below the token of `dayline view --source`.
function reachable(address) {
  if (address === null || address === undefined) return null;
  if (location.protocol === "file:" || !address.startsWith("../")) return address;
  const top = `${location.pathname.split("/", 2).join("/")}/`;
  return served && new URL(address, location.href).pathname.startsWith(top) ? address : null;
}

const movie = reachable(data.film);
let player = null;
let followed = null;

function originalOf(frame) {
  return reachable(data.originals?.[frame]);
}

function timeText(seconds) {
  return seconds.toFixed(3).replace(/\.?0+$/, "");
}

function startTime(event) {
  return event.start_time ?? times[event.start];
}

// From the frame to the end of its event, where the film pauses; "play" in its controls goes on.
function filmAddress(frame) {
  const index = eventAt(frame);
  const from = frame === events[index].start ? startTime(events[index]) : times[frame];
  const to = index + 1 < events.length ? `,${timeText(startTime(events[index + 1]))}` : "";
  return `${movie}#t=${timeText(from)}${to}`;
}

function playFilm(frame) {
  if (movie === null || times === null) return;
  openViewer(frame);
  player?.remove();
  player = make("video", { class: "player", controls: "", preload: "metadata", src: filmAddress(frame), "aria-label": `The film from ${frameText(frame, true)}` });
  followed = frame;
  player.addEventListener("timeupdate", () => followFilm());
  player.addEventListener("error", filmFails);
  for (const change of ["play", "pause"]) player.addEventListener(change, () => { parts.play.textContent = player?.paused === false ? "Pause" : "Play"; });
  parts.stage.replaceChildren(player);
  // Whether it can be played is told by the events above.
  player.play().catch(() => null);
}

function playOrPause() {
  if (player === null) playFilm(viewed);
  else if (player.paused) player.play().catch(() => null);
  else player.pause();
}

// The title and the strip below follow the film.
function followFilm() {
  if (player === null || player.currentTime === 0) return;
  const now = player.currentTime + 0.001;
  // An event that starts with a hard cut begins before its first sampled frame.
  const { start, stop } = events[lastFrameUntil((index) => startTime(events[index]), 0, events.length, now)];
  const frame = lastFrameUntil((f) => times[f], start, stop, now);
  if (frame === followed) return;
  followed = frame;
  viewFrame(frame);
}

// Whether the enlarged view goes on showing the film: another frame chosen by the person ends it.
function filmShows(frame) {
  if (player !== null && frame === followed) return true;
  endFilm();
  return false;
}

function endFilm() {
  player?.pause();
  player?.removeAttribute("src");
  [player, followed] = [null, null];
  parts.play.textContent = "Play";
}

function filmFails(e) {
  if (e.target !== player) return;
  [player, followed] = [null, null];
  parts.stage.replaceChildren(make("p", { class: "film-fails" }, "This browser cannot play the film: it does not know the format, or the file is no longer there. ",
    make("a", { href: movie, target: "_blank", rel: "noopener" }, "Open the file")));
}

viewer.addEventListener("close", endFilm);
