// A recording: the events of a session on a tape, the session as it stood at each of them, and
// whether the same would come of it now.

import { h, replace, setText } from "../lib/dom.js";
import { clock, many, moment } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { badge, button, choice, nothing, problemBox } from "../lib/parts.js";
import { divergenceView } from "../replay/divergence_view.js";
import { allEvents, storyAt } from "../replay/story.js";
import { makeTape, markOf, marks, SPEEDS } from "../replay/tape.js";
import { entryView } from "../replay/entry_view.js";
import { write } from "../text/json_text.js";
import { jsonBlock, seen } from "../text/shown.js";

const COLUMNS = 240;
const SHOWN = 40;
const TIMERS = { set: (run, ms) => setTimeout(run, ms), clear: (id) => clearTimeout(id) };

export const page = {
  path: "/console/sessions/:id/replay",
  title: "Replay",
  within: "Sessions",
  show(root, params, app) {
    const undo = app.disposer();
    const body = h("div.stack");
    const session = `/console/sessions/${encodeURIComponent(params.id)}`;
    const titled = h("a", { href: session }, params.id);
    app.api.get(`/sessions/${encodeURIComponent(params.id)}`).then((row) => row.title && setText(titled, row.title), () => null);
    replace(root, h("div.page-pad", h("header.page-head.close", h("h1", "Replay"), h("p.cut", titled)), body));
    const progress = h("p.dim", { role: "status" }, "Reading the events …");
    replace(body, progress);
    allEvents(app.api, params.id, (count) => setText(progress, `Reading the events … ${count}`), () => undo.over).then(
      (events) => (undo.over ? null : replace(body, events.length === 0 ? nothing("Nothing happened in this session.") : player(events, params, app, undo))),
      (problem) => replace(body, problemBox(problem)),
    );
    return undo.dispose;
  },
};

function player(events, params, app, undo) {
  const place = Number(params.query.get("event") ?? events.at(-1).sequence);
  const stands = h("div.replay-stands", { "aria-label": "The session as it stood", role: "region", tabindex: "0" });
  const event = h("section.replay-event", { "aria-live": "off" });
  const story = storyAt(events);
  const tape = makeTape(events.map((one) => Date.parse(one.created_at)), { timers: TIMERS, onMove: (at) => soon(at), onState: (playing) => controls.playing(playing) });
  const controls = controlsOf(events, tape);

  /** However fast the tape is moved, the session is drawn once for each picture of the screen. */
  let frame = 0;
  function soon(at) {
    controls.at(at);
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw(tape.at);
    });
  }
  function draw(at) {
    controls.at(at);
    const entries = story.entries(at);
    const last = entries.slice(-SHOWN);
    replace(stands,
      entries.length > last.length ? h("p.hint", `${many(entries.length - last.length, "entry", "entries")} before these`) : null,
      last.length === 0 ? h("p.dim", "Nothing is told yet.") : last.map((entry) => entryView(entry)));
    stands.scrollTop = stands.scrollHeight;
    replace(event, eventView(events[at - 1], tape, events));
  }
  const seekTo = (sequence) => {
    const at = events.findIndex((one) => one.sequence >= sequence);
    tape.pause();
    tape.seek(at < 0 ? events.length : at + 1);
    controls.root.scrollIntoView({ block: "nearest" });
  };
  const first = events.findIndex((one) => one.sequence >= place);
  tape.seek(first < 0 ? events.length : first + 1);
  draw(tape.at);
  undo.add(tape.dispose);
  undo.add(() => cancelAnimationFrame(frame));
  const bind = (keys, label, action) => undo.add(app.keys.bind(keys, label, action));
  bind(" ", "Play or pause", (pressed) => (pressed.target.closest?.("button, summary, a") ? false : tape.playing ? tape.pause() : tape.play()));
  bind("ArrowRight", "One event on", (pressed) => (pressed.target.type === "range" ? false : tape.step(1)));
  bind("ArrowLeft", "One event back", (pressed) => (pressed.target.type === "range" ? false : tape.step(-1)));
  return [
    controls.root,
    h("div.replay-panes", h("section.replay-pane", h("h2", "As it stood"), stands), h("section.replay-pane", h("h2", "This event"), event)),
    againView(params.id, app, seekTo),
  ];
}

function controlsOf(events, tape) {
  const range = h("input.replay-range", { type: "range", min: 0, max: events.length, step: 1, value: String(tape.at), "aria-label": "Place in the recording", on: { input: () => tape.seek(Number(range.value)) } });
  const told = h("output.replay-told", { "aria-live": "off" });
  const play = button({ label: "Play", icon: "play", bare: true, kind: "main", action: () => (tape.playing ? tape.pause() : tape.play()) });
  const speed = choice(SPEEDS.map((one) => [String(one), `${one}×`]), "1", (value) => tape.setSpeed(Number(value)), { "aria-label": "Speed" });
  const strip = h("div.replay-marks", { "aria-hidden": "true" }, marks(events, COLUMNS).map((kind) => h("span", { class: kind ? `mark-${kind}` : null })));
  return {
    root: h("section.replay-controls", { "aria-label": "Tape" },
      h("div.replay-strip", strip, range),
      h("div.row.wrap",
        button({ label: "To the beginning", icon: "replay", bare: true, kind: "quiet", action: () => tape.seek(0) }),
        button({ label: "One event back", icon: "left", bare: true, kind: "quiet", action: () => tape.step(-1) }),
        play,
        button({ label: "One event on", icon: "right", bare: true, kind: "quiet", action: () => tape.step(1) }),
        speed, told)),
    at(at) {
      range.value = String(at);
      const event = events[at - 1];
      range.setAttribute("aria-valuetext", event ? `event ${event.sequence}, ${event.type}` : "before the first event");
      setText(told, event ? `${at} of ${events.length} · ${clock(event.created_at)} · ${event.type}` : `before the first of ${events.length} events`);
    },
    playing(playing) {
      replace(play, icon(playing ? "pause" : "play"));
      play.setAttribute("aria-label", playing ? "Pause" : "Play");
      play.title = playing ? "Pause" : "Play";
    },
  };
}

const TONES = { bad: "bad", waits: "warn", agent: "accent", person: "ok" };

function eventView(event) {
  if (event === undefined) return h("p.dim", "Before the first event.");
  const { id, type, created_at: at, sequence, version, processed_at: processed, wake_id: wake, ...said } = event;
  return [
    h("p.row.wrap", badge(type, TONES[markOf(event)]), h("span.faint", { title: moment(at) }, `event ${sequence}, ${clock(at)}`)),
    h("dl.small-members",
      Object.entries({ id, wake, processed: processed && processed !== at ? clock(processed) : null })
        .filter(([, value]) => value).map(([name, value]) => h("div", h("dt", name), h("dd", h("code", seen(value)))))),
    Object.keys(said).length > 0 ? jsonBlock(write(said), { label: "What the event says" }) : h("p.dim", "It says nothing more."),
    version > 1 ? h("p.hint", `version ${version} of its kind`) : null,
  ];
}

/** Would the same be written down again? */
function againView(id, app, seekTo) {
  const told = h("div", { "aria-live": "polite" });
  const ask = (what) => async () => {
    replace(told, h("p.dim", what === "run" ? "Running it once more, over what was recorded …" : "Settling its calls once more …"));
    try {
      replace(told, divergenceView(await app.api.post(`/sessions/${encodeURIComponent(id)}/replay`, { what }), { what, seekTo }));
    } catch (problem) {
      replace(told, problemBox(problem));
    }
  };
  return h("section.panel", h("header.panel-head", h("h2.grow", "Would it come out the same?")),
    h("div.panel-body.stack",
      h("p.hint", "Nothing happens: no tool is run, no process started, no network reached."),
      h("div.row.wrap",
        button({ label: "Settle its calls again", icon: "shield", action: ask("calls"), title: "With the tools, rules and settings of now" }),
        button({ label: "Run it again", icon: "replay", action: ask("run"), title: "The agent's loop, with the recorded replies" })),
      told));
}
