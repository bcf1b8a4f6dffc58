/**
 * Where a recording is played: a place between its events, and when the next one is due. Pure:
 * the clock is handed in, so that a test can turn it.
 */

/** A pause in a recording is never told longer than this, whatever the speed. */
export const LONGEST_PAUSE_MS = 2000;
const SHORTEST_MS = 16;
export const SPEEDS = [0.5, 1, 2, 5, 20];

/** How long to wait before each event: the pauses it had, cut. `times` are milliseconds. */
export function pauses(times) {
  return times.map((time, at) => (at === 0 ? 0 : Math.max(0, Math.min(LONGEST_PAUSE_MS, time - times[at - 1]))));
}

/**
 * A tape of so many events: `at` is how many of them are told (0 to all). `step`, `seek`, `play`,
 * `pause`, `setSpeed`; `onMove(at)` and `onState(playing)` are told. `timers` has `set(fn, ms)` and
 * `clear(id)`.
 */
export function makeTape(times, { timers, onMove = () => {}, onState = () => {}, speed = 1 } = {}) {
  const waits = pauses(times);
  const tape = { at: times.length, playing: false, speed };
  let timer = null;

  function move(to) {
    const next = Math.max(0, Math.min(waits.length, to));
    if (next === tape.at) return;
    tape.at = next;
    onMove(next);
  }

  function stop() {
    if (timer !== null) timers.clear(timer);
    timer = null;
  }

  /** Events that were written in one moment are told in one moment. */
  function due() {
    stop();
    if (!tape.playing) return;
    if (tape.at >= waits.length) {
      pause();
      return;
    }
    timer = timers.set(() => {
      let to = tape.at + 1;
      while (to < waits.length && waits[to] / tape.speed < 1) to += 1;
      move(to);
      due();
    }, Math.max(SHORTEST_MS, waits[tape.at] / tape.speed));
  }

  function pause() {
    stop();
    if (!tape.playing) return;
    tape.playing = false;
    onState(false);
  }

  return {
    get at() {
      return tape.at;
    },
    get playing() {
      return tape.playing;
    },
    get speed() {
      return tape.speed;
    },
    play() {
      if (tape.playing || waits.length === 0) return;
      if (tape.at >= waits.length) move(0);
      tape.playing = true;
      onState(true);
      due();
    },
    pause,
    step(by) {
      pause();
      move(tape.at + by);
    },
    seek(to) {
      move(to);
      if (tape.playing) due();
    },
    setSpeed(speed) {
      tape.speed = speed;
      if (tape.playing) due();
    },
    dispose: stop,
  };
}

/** What kind of mark an event leaves on the tape. */
export function markOf(event) {
  const type = event.type;
  if (type.startsWith("user.")) return "person";
  if (type === "agent.message") return "agent";
  if (type === "call.settled") return event.envelope?.ok === false ? "bad" : "call";
  if (type === "call.refused") return "bad";
  if (type.startsWith("approval.") || type.startsWith("inquiry.")) return "waits";
  if (type.startsWith("call.")) return "call";
  if (type.startsWith("model.")) return "model";
  return "other";
}

/** At most `most` marks for a tape: where several events share a place, the one that matters most. */
export function marks(events, most) {
  const columns = Math.min(most, events.length);
  const found = Array.from({ length: columns }, () => null);
  events.forEach((event, at) => {
    const column = Math.floor((at * columns) / events.length);
    const mark = markOf(event);
    if (found[column] === null || WEIGHT.indexOf(mark) < WEIGHT.indexOf(found[column])) found[column] = mark;
  });
  return found;
}

const WEIGHT = ["bad", "waits", "person", "agent", "call", "model", "other"];
