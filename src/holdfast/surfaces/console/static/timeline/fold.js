// Makes the entries of a timeline out of events and live pieces. Pure: no DOM, no network, no clock.
//
// An entry has `kind`, a `key` that stays the same for as long as it stands for the same thing,
// `at`, and `rev`, which grows whenever something of it changes. Entries are only ever added at the
// end; what is told before it is written down (live pieces) stands under the key that the event
// will have, so that a text does not jump when it is whole.

import { callStory } from "./calls.js";
import { noticeOf } from "./notices.js";

/**
 * A fold: `event(event)` for each event in its order, `live(piece)` for what comes between them,
 * `missed(count)` where live pieces were lost. `entries` are the timeline, `facts` what else
 * the events tell: todos, usage, pressure, outcome, the last number.
 */
export function makeFold() {
  const entries = [];
  const byKey = new Map();
  const facts = { last: 0, todos: [], pressure: null, budget: null, outcome: null, evaluated: null, closed: false };
  const draft = { request: null, purpose: "turn", model: null, calls: new Map(), lost: 0 };
  const unread = new Set();
  let wake = null;
  let runs = 0;

  const timeline = {
    /** Put an entry at the end. */
    add(entry) {
      const known = byKey.get(entry.key);
      if (known) return known;
      entry.rev = 1;
      entry.wake = wake?.key ?? null;
      entries.push(entry);
      byKey.set(entry.key, entry);
      return entry;
    },
    /** Change one, where there is one. */
    change(key, with_) {
      const entry = byKey.get(key);
      if (!entry) return null;
      Object.assign(entry, with_);
      entry.rev += 1;
      return entry;
    },
    get: (key) => byKey.get(key) ?? null,
    drop(key) {
      const entry = byKey.get(key);
      if (!entry) return;
      byKey.delete(key);
      entries.splice(entries.lastIndexOf(entry), 1);
    },
    facts,
  };
  const calls = callStory(timeline);

  const kinds = {
    "user.message": (event) => {
      timeline.add({
        kind: "said", key: event.id, at: event.created_at, sequence: event.sequence,
        text: event.message, waiting: !event.processed_at,
      });
      if (!event.processed_at) unread.add(event.id);
    },
    "session.events_processed": (event) => {
      for (const id of event.event_ids ?? []) {
        if (byKey.get(id)?.waiting) timeline.change(id, { waiting: false });
      }
    },
    "span.started": (event) => {
      if (event.span_kind !== "wake") return;
      endDraft(event.created_at);
      runs += 1;
      wake = timeline.add({
        kind: "wake", key: `wake:${event.span_id}`, at: event.created_at, sequence: event.sequence,
        number: runs, reason: (event.summary ?? "").replace(/^1 new events$/, "1 new event"), result: null, ended: null,
      });
      wake.wake = null;
    },
    "span.completed": (event) => {
      if (event.span_kind !== "wake") return;
      endDraft(event.created_at);
      timeline.change(`wake:${event.span_id}`, { result: event.result, ended: event.created_at });
      wake = null;
    },
    "model.requested": (event) => {
      endDraft(event.created_at);
      draft.request = event.request_id;
      draft.purpose = event.purpose ?? "turn";
      draft.calls = new Map();
      draft.model = event.model;
      // Whoever is asked now reads all that was said before.
      if (draft.purpose === "turn") {
        for (const key of unread) timeline.change(key, { waiting: false });
        unread.clear();
      }
      timeline.add({
        kind: "asking", key: `asking:${event.request_id}`, at: event.created_at, sequence: event.sequence,
        model: event.model, purpose: draft.purpose,
      });
    },
    "model.replied": (event) => replied(event),
    "model.broken_off": (event) => {
      const key = `text:${event.request_id}`;
      if (event.text) {
        timeline.add({ kind: "text", key, at: event.created_at, sequence: event.sequence, text: "" });
        timeline.change(key, { text: event.text, live: false, broken: true });
      }
      endDraft(event.created_at);
    },
    "model.failed": (event) => {
      for (const key of [`text:${event.request_id}`, `thought:${event.request_id}`]) timeline.drop(key);
      dropWritten();
      clearDraft();
      timeline.add({
        kind: "problem", key: event.id, at: event.created_at, sequence: event.sequence,
        title: `The model gave no reply (${String(event.trouble).replaceAll("_", " ")})`,
        text: event.message,
        next: event.retry_in_seconds === null || event.retry_in_seconds === undefined
          ? "It is not tried again in this run."
          : `It is tried again in ${Math.round(event.retry_in_seconds)} s (attempt ${event.attempt}).`,
      });
    },
    "agent.message": (event) => {
      for (let at = entries.length - 1; at >= 0 && at >= entries.length - 4; at -= 1) {
        if (entries[at].kind === "text" && entries[at].text === event.message) {
          timeline.change(entries[at].key, { final: true });
          return;
        }
      }
      timeline.add({
        kind: "text", key: `text:${event.id}`, at: event.created_at, sequence: event.sequence,
        text: event.message, final: true,
      });
    },
    "context.compacted": (event) => {
      clearDraft();
      timeline.add({
        kind: "compaction", key: event.id, at: event.created_at, sequence: event.sequence,
        summary: event.summary, keptFrom: event.kept_from, automatic: event.automatic !== false,
      });
    },
    "context.measured": (event) => {
      facts.pressure = event.pressure ?? null;
      facts.budget = event.budget ?? null;
    },
    "user.define_outcome": (event) => {
      facts.outcome = event.outcome;
      timeline.add({
        kind: "outcome", key: event.id, at: event.created_at, sequence: event.sequence, outcome: event.outcome,
      });
    },
    "outcome.evaluated": (event) => {
      facts.evaluated = event.record;
      timeline.add({
        kind: "evaluation", key: event.id, at: event.created_at, sequence: event.sequence, record: event.record,
      });
    },
    "session.child_created": (event) => {
      const key = `child:${event.child_session_id}`;
      timeline.add({
        kind: "child", key, at: event.created_at, sequence: event.sequence, id: event.child_session_id,
        title: event.outcome_title ?? "", message: event.message, lasting: Boolean(event.lasting),
        state: "working", summary: "",
      });
      calls.child(event.child_session_id);
    },
    "session.child_waits": (event) => timeline.change(`child:${event.child_session_id}`, { state: "waits", summary: event.summary }),
    "session.child_answered": (event) => timeline.change(`child:${event.child_session_id}`, { state: "working" }),
    "session.child_idle": (event) => timeline.change(`child:${event.child_session_id}`, {
      state: event.child_stop_reason === "idle" ? "rested" : event.child_stop_reason,
      summary: event.summary, usage: event.usage ?? null, ended: event.created_at,
    }),
    "flow.grown": (event) => grown(event),
    "session.closed": (event) => {
      facts.closed = true;
      notice(event);
    },
  };

  function notice(event) {
    const made = noticeOf(event);
    if (made) timeline.add({ kind: "notice", key: event.id, at: event.created_at, sequence: event.sequence, ...made });
  }

  function replied(event) {
    if (draft.request === event.request_id && draft.purpose === "summary") {
      clearDraft();
      return;
    }
    const reply = event.reply ?? {};
    if (!draft.request) for (const key of ["text:now", "thought:now"]) timeline.drop(key);
    const thought = `thought:${event.request_id}`;
    const said = `text:${event.request_id}`;
    if (reply.reasoning) {
      timeline.add({ kind: "thought", key: thought, at: event.created_at, text: "" });
      timeline.change(thought, { text: reply.reasoning, live: false, sequence: event.sequence });
    } else timeline.drop(thought);
    if (reply.text) {
      timeline.add({ kind: "text", key: said, at: event.created_at, text: "" });
      timeline.change(said, { text: reply.text, live: false, sequence: event.sequence, at: event.created_at });
    } else timeline.drop(said);
    calls.planned(reply.calls ?? [], event, draft.calls);
    for (const name of reply.cut_calls ?? []) {
      timeline.add({
        kind: "notice", key: `${event.id}:cut:${name}`, at: event.created_at, sequence: event.sequence,
        tone: "warn", icon: "warning", text: `The reply was cut inside of a call of ${name || "a tool"}: it was not made.`,
      });
    }
    clearDraft();
  }

  function grown(event) {
    (event.chunks ?? []).forEach((chunk, at) => {
      const key = `${event.id}:${at}`;
      const shared = { key, at: event.created_at, sequence: event.sequence };
      if (chunk.kind === "user") timeline.add({ kind: "said", text: chunk.content, ...shared });
      else if (chunk.kind === "assistant" && chunk.content) timeline.add({ kind: "text", text: chunk.content, ...shared });
    });
  }

  /** What was told live and never became an event: the run was ended in the middle of it. */
  function endDraft() {
    for (const key of [`text:${draft.request}`, `thought:${draft.request}`]) {
      if (byKey.get(key)?.live) timeline.change(key, { live: false, broken: true });
    }
    dropWritten();
    clearDraft();
  }

  function dropWritten() {
    for (const key of draft.calls.values()) if (byKey.get(key)?.state === "writing") timeline.drop(key);
  }

  function clearDraft() {
    timeline.drop(`asking:${draft.request}`);
    draft.request = null;
    draft.purpose = "turn";
    draft.calls = new Map();
    draft.lost = 0;
  }

  function liveText(kind, text) {
    const key = `${kind}:${draft.request ?? "now"}`;
    const entry = timeline.add({ kind, key, at: null, text: "", live: true });
    if (!entry.live && entry.text) return;
    timeline.change(key, { text: entry.text + text, live: true });
  }

  return {
    entries,
    facts,
    get: timeline.get,
    event(event) {
      if (event.sequence <= facts.last) return;
      facts.last = event.sequence;
      const known = kinds[event.type];
      if (known) known(event);
      else if (!calls.event(event)) notice(event);
    },
    live(piece) {
      if (draft.purpose === "summary") return;
      if (piece.type !== "live.progress") timeline.drop(`asking:${draft.request}`);
      if (piece.type === "live.text") liveText("text", piece.text);
      else if (piece.type === "live.reasoning") liveText("thought", piece.text);
      else if (piece.type === "live.call") calls.written(piece, draft);
      else if (piece.type === "live.progress") calls.progress(piece);
    },
    missed(count) {
      draft.lost += count;
      const entry = byKey.get(`text:${draft.request ?? "now"}`);
      if (entry?.live) timeline.change(entry.key, { lost: (entry.lost ?? 0) + count });
    },
  };
}
