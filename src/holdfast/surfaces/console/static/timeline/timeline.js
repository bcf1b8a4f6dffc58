// The timeline of one session on the page: loads its events, follows what happens, draws the rows.

import { h, replace, setText } from "../lib/dom.js";
import { many } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { part } from "../lib/api.js";
import { nothing, problemBox, waitingLines } from "../lib/parts.js";
import { disposer } from "../lib/store.js";
import { makeFold } from "./fold.js";
import { drawRow, rowGone } from "./entries.js";
import { rowsOf } from "./rows.js";
import { makeWindow } from "./window.js";

const AT_FIRST = 500;
const PAGE = 500;
/** What begins or ends a reply of the model. */
const TURNS = new Set(["model.requested", "model.replied", "model.broken_off", "model.failed"]);

/**
 * A timeline for `ctx.session`. Gives `root`, `start(lastNumber)`, `dispose()`, keys for the page,
 * and tells `onChange(fold)` when events came.
 */
export function makeTimeline(ctx, { onChange = () => {}, onState = () => {}, onRest = () => {} } = {}) {
  const { api } = ctx.app;
  const doing = disposer();
  const scroller = h("div.timeline-scroll", { tabindex: "0", role: "region", "aria-label": "What happened" });
  const earlier = h("div.timeline-earlier", { hidden: true, role: "status" });
  const jump = h("button.jump", { type: "button", hidden: true, on: { click: () => list.bottom() } }, icon("down", { size: 14 }), h("span", "Newest"));
  const empty = h("div.timeline-empty", waitingLines(6));
  const opened = new Set();
  let events = [];
  /** What is told live of the reply that is under way: it is told once, and no event holds it yet. */
  let pieces = [];
  let fold = makeFold();
  let rows = [];
  let from = 0;
  let loading = false;
  let drawing = 0;
  let unseen = 0;

  const list = makeWindow(scroller, {
    label: "What happened",
    draw: (row, before) => {
      try {
        return drawRow(row, before, ctx);
      } catch (problem) {
        // One entry that cannot be drawn must not hide the others.
        reportError(problem);
        return replace(before ?? h("article.entry.notice", { tabindex: "-1" }), h("p.notice-line", icon("error", { size: 14 }), `This entry cannot be shown: ${problem.message}`));
      }
    },
    dispose: rowGone,
    onBottom: (at) => {
      jump.hidden = at;
      if (at) unseen = 0;
      drawJump();
    },
    onTop: () => loadEarlier(),
  });
  scroller.append(earlier, empty, list.root);
  const root = h("div.timeline", scroller, jump);
  doing.add(() => list.dispose());
  doing.add(() => cancelAnimationFrame(drawing));
  ctx.toggleRun = (key) => {
    if (opened.has(key)) opened.delete(key);
    else opened.add(key);
    draw();
  };

  function later() {
    if (!drawing && !doing.over) drawing = requestAnimationFrame(draw);
  }

  function draw() {
    cancelAnimationFrame(drawing);
    drawing = 0;
    const last = rows.at(-1)?.key;
    rows = rowsOf(fold.entries, opened, { atWork: ctx.atWork?.() ?? false });
    if (!list.atBottom && last) {
      const place = rows.findLastIndex((row) => row.key === last);
      if (place >= 0) unseen += rows.length - 1 - place;
      drawJump();
    }
    empty.hidden = rows.length > 0;
    list.set(rows);
  }

  function drawJump() {
    setText(jump.lastElementChild, unseen ? `${many(unseen, "new entry", "new entries")}` : "Newest");
  }

  function take(fresh) {
    for (const event of fresh) {
      if (events.length && event.sequence <= events.at(-1).sequence) continue;
      events.push(event);
      if (TURNS.has(event.type)) pieces = [];
      fold.event(event);
    }
    if (fresh.length) onChange(fold, fresh);
    later();
  }

  async function start(last) {
    from = Math.max(0, (last ?? 0) - AT_FIRST);
    try {
      let after = from;
      for (;;) {
        const page = await api.get(`/sessions/${part(ctx.session)}/events`, { after, limit: PAGE });
        if (doing.over) return;
        take(page.events);
        if (page.next === null || page.next === undefined || !page.events.length) break;
        after = page.next;
      }
      if (!events.length) replace(empty, nothing("Nothing happened yet", "Say something below: the agent begins to work when there is something to do."));
      follow();
    } catch (problem) {
      if (problem.name === "AbortError" || doing.over) return;
      replace(empty, problemBox(problem, () => {
        replace(empty, waitingLines(6));
        start(last);
      }));
      if (!problem.code) throw problem;
    }
    earlier.hidden = from <= 0;
  }

  function follow() {
    let lostConnection = false;
    const following = api.stream(`/sessions/${part(ctx.session)}/stream`, {
      after: events.at(-1)?.sequence ?? 0,
      on: {
        event: (event) => take([event]),
        live: (piece) => {
          if (piece.type !== "live.progress") pieces.push(piece);
          fold.live(piece);
          later();
        },
        missed: ({ count }) => {
          fold.missed(count);
          later();
        },
        rests: () => onRest(),
      },
      onState: (state, detail) => {
        if (state === "waiting") lostConnection = true;
        onState(state, detail, lostConnection);
      },
    });
    doing.add(() => following.close());
  }

  /** Bring older events in: everything is folded again, as a call may have begun among them. */
  async function loadEarlier() {
    if (loading || from <= 0 || doing.over) return false;
    loading = true;
    earlier.hidden = false;
    setText(earlier, "Loading what came before …");
    try {
      const until = from;
      const first = Math.max(0, until - PAGE);
      const page = await api.get(`/sessions/${part(ctx.session)}/events`, { after: first, limit: until - first });
      if (doing.over) return false;
      from = first;
      events = [...page.events.filter((event) => event.sequence <= until), ...events];
      const again = makeFold();
      for (const event of events) again.event(event);
      for (const piece of pieces) again.live(piece);
      fold = again;
      onChange(fold, []);
      draw();
      return true;
    } catch (problem) {
      setText(earlier, problem.message);
      return false;
    } finally {
      loading = false;
      earlier.hidden = from <= 0;
    }
  }

  return {
    root,
    start,
    redraw: later,
    /** Draw one call again, as something beside its events changed. */
    touch(key) {
      const entry = fold.get(key);
      if (!entry) return;
      entry.rev += 1;
      later();
    },
    step: (by) => list.step(by),
    bottom: () => list.bottom(),
    async top() {
      while (from > 0 && (await loadEarlier()));
      list.top();
    },
    async showNumber(sequence) {
      while (from > 0 && sequence <= from && (await loadEarlier()));
      let entry = null;
      for (const one of fold.entries) if (one.sequence && one.sequence <= sequence) entry = one;
      draw();
      return entry ? list.show(entry.key, { focus: true }) || list.show(rows.find((row) => row.calls?.includes(entry))?.key, { focus: true }) : false;
    },
    get fold() {
      return fold;
    },
    dispose: () => doing.dispose(),
  };
}
