// The frames of the page, and their times as text. Camera time has no time zone; it is treated as
// UTC throughout.

import { lengthText, plural, two } from "./text.js";

export const data = JSON.parse(document.getElementById("data").textContent);
export const original = data.segmentation;
export const nFrames = original.n_frames;
export const DAY = 86400;
// Where the frames stand on the time axis; a frame without a time stands where the one before it
// does, or at noon of its date if that is later. What is shown is `timeOf`.
export const times = original.times === null ? null : placedTimes();
export const pictures = data.pictures;
export const isWall = times !== null && original.clock === "wall";
export const typicalStep =
  times === null
    ? 1
    : median(
        times
          .slice(1)
          .map((t, i) => t - times[i])
          .filter((step) => step > 0),
      );
const photoNumbers = data.addresses?.photos ?? null;
export const { thing } = data; // what a person calls a frame

export function timeOf(frame) {
  return original.times?.[frame] ?? null;
}

// The number in the address of a photo, and the photo with this number; null if there is none.
export function numberOf(frame) {
  return 1 + (photoNumbers?.indexOf(original.digests[frame]) ?? frame);
}

export function frameAt(number) {
  if (photoNumbers === null) return number >= 1 && number <= nFrames ? number - 1 : null;
  const frame = original.digests.indexOf(photoNumbers[number - 1]);
  return frame < 0 ? null : frame;
}

// Seconds that a video among the photos lasts; null for a photo.
export function durationOf(frame) {
  return original.durations?.[frame] ?? null;
}

// The name of the file of a frame; those of a film have none and are called by their times.
export function nameOf(frame) {
  const name = original.names?.[frame] ?? null;
  return !isWall && name?.startsWith(frameText(frame)) ? null : name;
}

// How many photos and videos some frames are, and how long the videos last.
export function countText(frames) {
  const lengths = frames.map(durationOf).filter((one) => one !== null);
  const rest = frames.length - lengths.length;
  if (lengths.length === 0 && original.shots?.length) return `${plural(rest, thing)} looked at`;
  if (lengths.length === 0) return plural(rest, thing);
  const length = lengthText(lengths.reduce((a, b) => a + b));
  const videos = `${plural(lengths.length, "video")} (${length})`;
  return rest === 0 ? videos : `${plural(rest, thing)}, ${videos}`;
}

function placedTimes() {
  let last = original.times.find((time) => time !== null);
  return original.times.map((time, frame) => {
    const date = original.dates?.[frame];
    if (time !== null) last = time;
    else if (date) last = frame === 0 ? midnight(date) : Math.max(last, midnight(date) + DAY / 2);
    return last;
  });
}

function midnight(date) {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

function median(values) {
  if (values.length === 0) return 1;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

// The last index in first .. stop-1 whose value, in ascending order, is at most `value`.
export function lastUntil(valueOf, first, stop, value) {
  let low = first;
  let high = stop - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (valueOf(middle) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function clockText(time, withSeconds = false) {
  if (isWall) {
    const date = new Date(time * 1000);
    const minutes = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
    return withSeconds ? `${minutes}:${two(date.getUTCSeconds())}` : minutes;
  }
  const whole = Math.floor(Math.abs(time));
  return `${time < 0 ? "−" : ""}${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

export function dayOf(time) {
  return Math.floor(time / DAY);
}

// The day of a frame, also if its time is not known; null if nothing is.
export function dayAt(frame) {
  const date = original.dates?.[frame];
  if (date) return dayOf(midnight(date));
  return isWall ? dayOf(times[frame]) : null;
}

export function dayText(day, style = "full") {
  if (!data.dated) return `Day ${day + 1 - dayOf(times[0])}`;
  const options =
    style === "full"
      ? { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }
      : { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" };
  return new Date(day * DAY * 1000).toLocaleDateString("en-GB", options).replace(",", "");
}

export function durationText(seconds) {
  // Rounded before it is divided: 119.7 s are 2 min 0 s, not 1 min 60 s.
  const whole = Math.round(seconds);
  const minutes = Math.round(seconds / 60);
  if (whole < 60) return `${whole} s`;
  if (whole < 600 && !isWall) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60)
    return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
  return `${Math.round(minutes / 1440)} days`;
}

// A short name of one frame: its time, or its date, or its number.
export function frameText(frame, withSeconds = false) {
  if (timeOf(frame) !== null) return clockText(timeOf(frame), withSeconds);
  return original.dates?.[frame] ? dayText(dayAt(frame), "short") : `frame ${frame}`;
}

export function eventDuration(event) {
  if (event.start_time === null || event.stop_time === null) return null;
  // If the clock was set back in between, the duration is unknown.
  return event.stop_time < event.start_time ? null : event.stop_time - event.start_time;
}

export function eventSpanText(event) {
  const from = event.start_time === null ? null : clockText(event.start_time);
  const to = event.stop_time === null ? null : clockText(event.stop_time);
  if (from === null || to === null)
    return event.stop - event.start === 1
      ? `frame ${event.start}`
      : `frames ${event.start}–${event.stop - 1}`;
  return from === to ? from : `${from} – ${to}`;
}

// Frames further apart than this have a pause between them; a photographer's usual minute between
// shots is not one.
export const longStep = isWall ? Math.max(10 * typicalStep, 300) : 10 * typicalStep;

export function pauseBefore(frame) {
  if (times === null || frame === 0) return 0;
  const pause = times[frame] - times[frame - 1] - (durationOf(frame - 1) ?? 0);
  return pause > longStep ? pause : 0;
}
