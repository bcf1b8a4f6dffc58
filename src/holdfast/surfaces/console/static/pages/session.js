// One session: what happened, what happens, and a way to say something.

import { address, part } from "../lib/api.js";
import { h, replace } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { nothing, problemBox, waitingLines } from "../lib/parts.js";
import { disposer } from "../lib/store.js";
import { liveTail } from "../cards/terminal.js";
import { followCommands } from "../timeline/commands.js";
import { makeTimeline } from "../timeline/timeline.js";
import { makeComposer } from "./session_composer.js";
import { makeHead } from "./session_head.js";

export const page = {
  path: "/console/sessions/:id",
  title: "Session",
  within: "Sessions",
  show(root, { id, query }, app) {
    const doing = disposer();
    open(root, id, query, app, doing).catch((problem) => {
      if (problem.name === "AbortError" || doing.over) return;
      replace(root, h("div.page-pad", problem.status === 404
        ? nothing("There is no such session.", "It was deleted, or the link is of another home.", h("a.button", { href: "/console" }, "All sessions"))
        : [problemBox(problem, () => app.go(location.href)), h("a", { href: "/console" }, "All sessions")]));
      if (!problem.code) throw problem;
    });
    return () => doing.dispose();
  },
};

async function open(root, id, query, app, doing) {
  root.classList.add("session-page");
  replace(root, h("div.page-pad", waitingLines(8)));
  const row = { now: await app.api.get(`/sessions/${part(id)}`) };
  if (doing.over) return;
  const ctx = context(id, row, app, doing);
  const head = makeHead(ctx);
  const composer = makeComposer(ctx);
  const jobs = h("div.jobs", { role: "region", "aria-label": "Running commands", hidden: true });
  const timeline = makeTimeline(ctx, {
    onChange: (fold, fresh) => {
      head.facts(fold.facts);
      if (fresh.some((event) => event.type === "call.intended")) ctx.commands.soon();
      if (ctx.commands.running().length) drawJobs(jobs, ctx);
      if (fresh.some((event) => REFRESH.has(event.type))) refresh();
    },
    onState: (state, detail) => head.link(state, detail),
    onRest: () => refresh(),
  });
  ctx.timeline = timeline;
  ctx.commands = followCommands(id, app, {
    wanted: () => row.now.runner === "somebody" || row.now.status === "running",
    onChange: () => {
      for (const entry of timeline.fold.entries) if (entry.kind === "call" && entry.ok === null) timeline.touch(entry.key);
      drawJobs(jobs, ctx);
    },
  });
  doing.add(() => timeline.dispose());
  doing.add(() => ctx.commands.dispose());
  doing.add(() => {
    for (const dispose of jobs.disposers ?? []) dispose();
  });
  doing.add(() => head.dispose());

  let asked = 0;
  async function refresh() {
    asked += 1;
    const mine = asked;
    try {
      const fresh = await app.api.get(`/sessions/${part(id)}`);
      if (mine === asked && !doing.over) told(fresh);
    } catch {
      // The stream of the home tells the next change.
    }
  }
  function told(fresh) {
    row.now = fresh;
    app.title(fresh.title || "Session");
    head.draw(fresh);
    composer.draw(fresh);
    timeline.redraw();
  }

  replace(root, head.root, timeline.root, jobs, composer.root);
  told(row.now);
  doing.add(app.sessions.watch((rows) => {
    const fresh = rows.get(id);
    if (app.gone.has(id)) {
      doing.dispose();
      replace(root, h("div.page-pad", nothing("This session was deleted.", "Somebody took it away while you looked at it.", h("a.button", { href: "/console" }, "All sessions"))));
      return;
    }
    if (fresh && fresh.updated_at >= row.now.updated_at) told({ ...row.now, ...fresh });
  }));
  bindKeys(app, doing, timeline, composer, ctx);
  await timeline.start(row.now.events);
  const number = Number(query.get("event"));
  if (number && !doing.over) timeline.showNumber(number);
}

const REFRESH = new Set(["session.status_changed", "session.status_idle", "model.replied", "approval.asked", "approval.answered", "inquiry.asked", "inquiry.answered", "session.closed", "session.child_created", "outcome.evaluated", "context.measured"]);

/** What cards and entries may ask of the page. */
function context(id, row, app, doing) {
  const ctx = {
    app, session: id, opened: new Map(), row,
    atWork: () => row.now.status === "running" || row.now.reported === "busy",
    commandOf: (call) => ctx.commands?.ofCall(call) ?? null,
    followCommand: (command, listener) => ctx.commands.follow(command, listener),
    terminate: (command) => ctx.commands.terminate(command),
    childOf: (child) => ctx.timeline?.fold.get(`child:${child}`) ?? null,
    fileUrl: (path) => address(`/sessions/${part(id)}/files/${fileName(path, id).split("/").map(part).join("/")}`),
    fileLink: (path, label) => h("a.file-link", { href: ctx.fileUrl(path), target: "_blank", rel: "noopener" }, icon("download", { size: 14 }), h("span", label)),
    picture(path, said) {
      const image = h("img", { src: ctx.fileUrl(path), alt: said ?? "", loading: "lazy", decoding: "async" });
      const link = h("a", { href: ctx.fileUrl(path), target: "_blank", rel: "noopener", "aria-label": `Open ${said}` }, image);
      image.addEventListener("error", () => replace(link, h("span.faint", "The picture is not there any more.")));
      return link;
    },
  };
  doing.add(() => ctx.opened.clear());
  return ctx;
}

/** The name under which a file of a session is asked for: its folder and what stands below it. */
export function fileName(path, session) {
  const parts = String(path).split("/").filter(Boolean);
  const at = parts.lastIndexOf(session);
  if (at >= 0) return parts.slice(at + 1).join("/");
  return parts.length > 1 && FOLDERS.has(parts[0]) ? parts.join("/") : `artifacts/${parts.at(-1) ?? ""}`;
}

const FOLDERS = new Set(["artifacts", "outputs"]);

/** Commands in the background that no open call shows. */
function drawJobs(root, ctx) {
  const open = new Set(ctx.timeline.fold.entries.filter((entry) => entry.kind === "call" && entry.ok === null).map((entry) => entry.id));
  const jobs = ctx.commands.running().filter((one) => !open.has(one.call_id));
  const wanted = jobs.map((one) => one.id).join();
  root.hidden = !jobs.length;
  if (root.dataset.jobs === wanted) return;
  root.dataset.jobs = wanted;
  for (const dispose of root.disposers ?? []) dispose();
  const made = jobs.map((one) => ({ one, live: liveTail(one, ctx) }));
  root.disposers = made.map(({ live }) => live.dispose);
  replace(root, made.map(({ one, live }) => h("details.job", { open: made.length === 1 },
    h("summary.job-head", h("span.dot.tone-busy"), icon("terminal", { size: 14 }), h("span.mono.cut", one.command)), live.root)));
}

function bindKeys(app, doing, timeline, composer, ctx) {
  const bind = (keys, label, action, options) => doing.add(app.keys.bind(keys, label, action, options));
  bind("j", "Next entry", () => timeline.step(1));
  bind("k", "Entry before", () => timeline.step(-1));
  bind("G", "Newest", () => timeline.bottom());
  bind("g g", "Beginning", () => timeline.top());
  bind("c", "Say something", () => composer.focus());
  bind("o", "Open or close the entry", () => {
    const head = document.activeElement?.closest?.(".entry")?.querySelector("[aria-expanded], summary");
    if (!head) return false;
    head.click();
    return true;
  });
  bind("Enter", "", () => {
    if (!document.activeElement?.classList.contains("entry")) return false;
    document.activeElement.querySelector("[aria-expanded], summary")?.click();
    return true;
  });
  bind("i", "Interrupt", () => composer.interrupt());
  bind("u", "All sessions", () => app.go("/console"));
  bind("Escape", "", () => {
    if (document.activeElement !== composer.input) return false;
    composer.input.blur();
    return true;
  }, { typing: true });
  void ctx;
}
