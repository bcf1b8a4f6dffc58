// The way of a call, out of events: asked, decided over, run, answered. Pure.
//
// States: `writing` (the model still writes it), `planned`, `asked`, `waiting` (a person decides),
// `running`, `inquiring` (it asks a person), `done`, `failed`. Which of the last two it is, is told
// by `ok` of its envelope alone, whatever tool it is and whatever its result holds.

const HANDS_OVER = new Set(["task", "session_delegate", "session_run_child"]);

/** The calls of a timeline: `event(event)` gives true where the event was one of theirs. */
export function callStory(timeline) {
  const open = new Set();
  /** The last call of a tool and its arguments that failed: the same once more is a retry. */
  const failed = new Map();
  /** Questions that are told as such: other events tell the same of them in other words. */
  const approvals = new Set();
  /** By tool, how many calls came to their end that are yet to be told once more by their use. */
  const settledUses = new Map();

  function begin(id, event, with_) {
    const key = `call:${id}`;
    const entry = timeline.add({
      kind: "call", key, id, at: event.created_at, sequence: event.sequence, tool: "", rawArguments: "",
      arguments: null, state: "planned", ok: null, envelope: null, approval: null, inquiry: null,
      grounds: "", repairs: [], refused: null, progress: null, child: null, startedAt: null, endedAt: null,
    });
    open.add(key);
    timeline.change(key, with_);
    const before = failed.get(sameness(entry));
    if (before && before !== key) timeline.change(key, { retryOf: before });
    return entry;
  }

  function change(event, with_) {
    return timeline.change(`call:${event.call_id}`, with_);
  }

  const kinds = {
    "call.asked": (event) => begin(event.call_id, event, {
      tool: event.tool, ...argumentsOf(event.arguments), state: "asked", sequence: event.sequence, at: event.created_at,
    }),
    "approval.asked": (event) => {
      approvals.add(event.approval_id);
      change(event, {
        state: "waiting",
        approval: { id: event.approval_id, reason: event.reason, uses: event.uses ?? [], offers: event.offers ?? [], wider: event.wider ?? [], asked_at: event.created_at, allowed: null },
      });
    },
    "approval.answered": (event) => {
      const entry = timeline.get(`call:${event.call_id}`);
      change(event, {
        state: entry?.state === "waiting" ? "asked" : entry?.state,
        approval: { ...entry?.approval, allowed: event.allowed, by: event.by, note: event.note, remember: event.remember },
      });
    },
    "approval.withdrawn": (event) => {
      const entry = timeline.get(`call:${event.call_id}`);
      change(event, { state: "asked", approval: { ...entry?.approval, withdrawn: event.reason } });
    },
    "call.intended": (event) => change(event, {
      state: "running", startedAt: event.created_at, grounds: event.grounds, repairs: event.repairs ?? [],
    }),
    "inquiry.asked": (event) => change(event, { state: "inquiring", inquiry: { questions: event.questions ?? [], answers: null } }),
    "inquiry.answered": (event) => {
      const entry = timeline.get(`call:${event.call_id}`);
      change(event, {
        state: "running",
        inquiry: { questions: entry?.inquiry?.questions ?? [], answers: event.answers, skipped: Boolean(event.skipped), by: event.by },
      });
    },
    "call.refused": (event) => change(event, { refused: { kind: event.kind, reason: event.reason } }),
    "call.settled": (event) => settled(event),
    "sidecar.kept": (event) => change(event, { sidecar: { path: event.path, bytes: event.stored_bytes } }),
    "agent.custom_tool_use": (event) => {
      const known = timeline.get(`call:${event.request_id}`);
      if (known) timeline.change(known.key, { state: "outside" });
      else begin(event.request_id, event, { tool: event.tool_name, ...argumentsOf(event.input), state: "outside", custom: true });
    },
    "user.custom_tool_result": (event) => {
      const known = timeline.get(`call:${event.request_id}`);
      if (known?.custom) finish(known.key, said(event.output), event);
      else if (known?.state === "outside") timeline.change(known.key, { state: "running" });
    },
    "agent.tool_use": (event) => {
      const id = event.request_id ?? event.id;
      if (approvals.has(id)) return;
      const left = settledUses.get(event.tool_name) ?? 0;
      if (!event.request_id && left > 0) {
        settledUses.set(event.tool_name, left - 1);
        return;
      }
      begin(id, event, { tool: event.tool_name, ...argumentsOf(event.input), custom: true, state: "waiting" });
      if (event.output !== null && event.output !== undefined) finish(`call:${id}`, said(event.output), event);
    },
    "user.tool_confirmation": (event) => {
      if (approvals.has(event.request_id)) return;
      const key = `call:${event.request_id}`;
      timeline.change(key, {
        state: event.allowed ? "asked" : "failed", ok: event.allowed ? null : false,
        approval: { allowed: event.allowed, note: event.note, by: null },
      });
    },
  };

  function settled(event) {
    const key = `call:${event.call_id}`;
    if (!timeline.get(key)) begin(event.call_id, event, { tool: event.tool });
    finish(key, event.envelope, event);
    settledUses.set(event.tool, (settledUses.get(event.tool) ?? 0) + 1);
  }

  function finish(key, envelope, event) {
    const ok = envelope?.ok === true;
    const entry = timeline.change(key, { state: ok ? "done" : "failed", ok, envelope, endedAt: event.created_at, progress: null });
    open.delete(key);
    if (entry && !ok) failed.set(sameness(entry), key);
    else if (entry) failed.delete(sameness(entry));
    if (ok && entry?.tool === "todo" && Array.isArray(entry.arguments?.todos)) timeline.facts.todos = entry.arguments.todos;
  }

  return {
    event(event) {
      const known = kinds[event.type];
      if (known) known(event);
      return Boolean(known);
    },
    /** The calls of a reply, in its order; those that were told live become the same entries. */
    planned(asked, event, written) {
      asked.forEach((call, index) => {
        const live = written.get(index);
        if (live && live !== `call:${call.id}`) timeline.drop(live);
        begin(call.id, event, { tool: call.name, ...argumentsOf(call.arguments), state: "planned" });
      });
      for (const [index, key] of written) if (index >= asked.length) timeline.drop(key);
    },
    /** A piece of a call that the model still writes. */
    written(piece, draft) {
      const key = draft.calls.get(piece.index) ?? `call:writing:${draft.request ?? "now"}:${piece.index}`;
      draft.calls.set(piece.index, key);
      const entry = timeline.get(key) ?? timeline.add({
        kind: "call", key, id: null, at: null, tool: "", rawArguments: "", arguments: null, state: "writing",
        ok: null, envelope: null, approval: null, inquiry: null, grounds: "", repairs: [], refused: null,
        progress: null, child: null,
      });
      timeline.change(key, { tool: piece.name || entry.tool, rawArguments: entry.rawArguments + (piece.arguments ?? "") });
    },
    progress(piece) {
      const entry = timeline.get(`call:${piece.call_id}`);
      if (!entry || entry.ok !== null) return;
      const { message = null, done = null, total = null, partial = null } = piece;
      timeline.change(entry.key, { progress: { message, done, total, partial } });
    },
    /** A subagent began: it is the work of the first call that hands over and has none yet. */
    child(id) {
      for (const key of open) {
        const entry = timeline.get(key);
        if (entry && HANDS_OVER.has(entry.tool) && entry.state === "running" && !entry.child) {
          timeline.change(key, { child: id });
          timeline.change(`child:${id}`, { call: entry.id });
          return;
        }
      }
    },
  };
}

function sameness(entry) {
  return `${entry.tool}\n${entry.rawArguments}`;
}

function argumentsOf(raw) {
  const text = typeof raw === "string" ? raw : JSON.stringify(raw ?? {});
  try {
    const value = JSON.parse(text);
    return { rawArguments: text, arguments: value !== null && typeof value === "object" ? value : null };
  } catch {
    return { rawArguments: text, arguments: null };
  }
}

/** The text that somebody outside gave: an envelope, if it is one; a success otherwise. */
function said(output) {
  try {
    const value = JSON.parse(output);
    if (value && typeof value === "object" && typeof value.ok === "boolean") return value;
  } catch {
    // It is a text.
  }
  return { ok: true, result: output };
}
