// Positions on the time axis. Several days have one lane each.

import {
  DAY,
  dayOf,
  dayText,
  isWall,
  lastUntil,
  longStep,
  nFrames,
  pauseBefore,
  times,
  typicalStep,
} from "./frames.js";

export const lanes = makeLanes();

function timesAscend() {
  return (
    times !== null &&
    times[nFrames - 1] > times[0] &&
    times.every((t, i) => i === 0 || t >= times[i - 1])
  );
}

// A lane shows the frames first .. stop-1. Positions are seconds or, if times do not increase,
// frames.
function makeLanes() {
  if (!timesAscend())
    return [
      {
        first: 0,
        stop: nFrames,
        from: 0,
        to: nFrames,
        at: (frame) => frame,
        step: 1,
        byFrame: true,
      },
    ];
  if (!isWall || times[nFrames - 1] - times[0] <= 30 * 3600) return [wholeLane()];
  return dayLanes();
}

// Long pauses are shortened to leave space for the recorded time; each is marked with its duration.
function wholeLane() {
  const steps = times.map((t, i) => (i === 0 ? 0 : t - times[i - 1]));
  const recorded = steps.reduce(
    (sum, step) => sum + (step > longStep ? typicalStep : step),
    typicalStep,
  );

  const longest = Math.max(0.035 * recorded, longStep);
  const places = [];
  const pauses = [];
  steps.forEach((step, i) => {
    const before = i === 0 ? 0 : places[i - 1];
    places.push(before + Math.min(step, longest));
    if (step > 1.5 * longest)
      pauses.push({ from: before + typicalStep, to: places[i], frame: i, seconds: step });
  });

  // The position of a time on the axis; null within a shortened pause.
  const placeOf = (time) => {
    const frame = lastUntil((f) => times[f], 0, nFrames, time);
    const after = time - times[frame];
    return frame + 1 < nFrames && steps[frame + 1] > 1.5 * longest && after > 0
      ? null
      : places[frame] + after;
  };

  return {
    first: 0,
    stop: nFrames,
    from: 0,
    to: places[nFrames - 1] + typicalStep,
    at: (frame) => places[frame],
    step: typicalStep,
    pauses,
    placeOf,
    earliest: times[0],
    latest: times[nFrames - 1] + typicalStep,
  };
}

function dayLanes() {
  const at = (frame) => times[frame];
  const days = [];
  for (let frame = 0; frame < nFrames; frame += 1) {
    const day = dayOf(times[frame]);
    if (days.length === 0 || days[days.length - 1].day !== day)
      days.push({ day, first: frame, stop: frame, at, step: typicalStep });
    days[days.length - 1].stop = frame + 1;
  }
  const earliest = Math.min(...days.map((lane) => times[lane.first] - lane.day * DAY));
  const latest = Math.max(...days.map((lane) => times[lane.stop - 1] - lane.day * DAY));
  const from = Math.floor(earliest / 3600) * 3600;
  const to = Math.min(DAY, Math.ceil((latest + 1) / 3600) * 3600);
  return days.map((lane) => {
    const [start, end] = [lane.day * DAY + from, lane.day * DAY + to];
    return {
      ...lane,
      label: dayText(lane.day, "short"),
      from: start,
      to: end,
      placeOf: (time) => time,
      earliest: start,
      latest: end,
    };
  });
}

export function share(lane, value) {
  return Math.min(1, Math.max(0, (value - lane.from) / (lane.to - lane.from)));
}

// Where a frame ends: at the next one, but not across a pause.
export function endOf(lane, frame) {
  const isLast = frame + 1 === lane.stop;
  return share(
    lane,
    isLast || (!lane.byFrame && pauseBefore(frame + 1))
      ? lane.at(frame) + lane.step
      : lane.at(frame + 1),
  );
}

export function frameAtShare(lane, x) {
  return lastUntil(lane.at, lane.first, lane.stop, lane.from + x * (lane.to - lane.from));
}
