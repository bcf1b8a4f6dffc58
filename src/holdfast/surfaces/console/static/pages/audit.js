// The audit: which programs ran, day by day, and whether the journal is what was written.

import { h, replace } from "../lib/dom.js";
import { bytes, clock, duration, many, moment } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { badge, button, choice, loaded, nothing, problemBox } from "../lib/parts.js";
import { eventAddress, sessionNames } from "../review/session_names.js";
import { dayShown, programsThatFit } from "../review/wire.js";
import { seen } from "../text/shown.js";

const MOST = 1000;

export const page = {
  path: "/console/audit",
  title: "Audit",
  nav: { label: "Audit", icon: "audit", keys: "g u", group: "Look" },
  show(root, params, app) {
    const undo = app.disposer();
    const programs = h("section.stack");
    replace(root, h("div.page-pad", h("header.page-head", h("h1", "Audit")), ledger(params, app), programs));
    showPrograms(programs, params.query.get("day"), params.query.get("session"), app, undo);
    return undo.dispose;
  },
};

/** Is the journal what was written? */
function ledger(params, app) {
  const told = h("div", { "aria-live": "polite" });
  const session = h("input", { type: "text", placeholder: "every session", "aria-label": "Only this session", spellcheck: "false", value: params.query.get("session") ?? "" });
  const go = button({ label: "Verify", icon: "shield", kind: "main", action: verify });
  async function verify() {
    replace(told, h("p.dim", "Reading every event …"));
    try {
      replace(told, verdict(await app.api.post("/audit/verify", session.value.trim() ? { session: session.value.trim() } : {})));
    } catch (problem) {
      replace(told, problemBox(problem, verify));
    }
  }
  session.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go.click();
  });
  return h("section.panel.ledger",
    h("div.panel-body.stack",
      h("div.row.wrap", h("div.grow", h("h2", "Is the journal what was written?"), h("p.hint", "Every event vouches for all before it; anchors outside of the store say how far each session had come.")), h("div.row", session, go)),
      told));
}

function verdict(found) {
  const looked = `${many(found.events, "event")} of ${many(found.sessions, "session")}`;
  const notes = [
    found.not_anchored ? `Not anchored, so that a missing end cannot be told: ${many(found.not_anchored, "session")}.` : null,
    found.imported ? `Imported, so as somebody else told it: ${many(found.imported, "session")}.` : null,
  ].filter(Boolean);
  return h("div.verdict-box", { class: found.whole ? "tone-ok" : "tone-bad", role: "status", dataset: { whole: String(found.whole) } },
    icon(found.whole ? "check" : "warning", { size: 22 }),
    h("div.stack",
      h("p.verdict-word", found.whole ? (found.sessions > 0 ? "All as written" : "There is no session, and none is missed") : `${many(found.problems.length, "place")} not as written`),
      found.sessions > 0 ? h("p", `Looked at ${looked}.`) : null,
      notes.map((note) => h("p.caution", note)),
      found.problems.length > 0 ? h("ul.damage", found.problems.map((one) => h("li",
        one.session_id ? h("a", { href: eventAddress(one.session_id, one.sequence ?? null) }, h("code", seen(one.session_id)), one.sequence ? ` event ${one.sequence}` : null) : "The store",
        " ", badge(one.trouble, "bad"), h("p", seen(one.told))))) : null));
}

function showPrograms(place, day, session, app, undo) {
  loaded(place, () => app.api.get("/audit/programs", { day, session, limit: MOST }), (found) => {
    if (undo.over) return null;
    const names = sessionNames(app);
    const body = h("tbody");
    const said = h("p.hint", { role: "status" });
    const words = h("input", { type: "search", placeholder: "Program, tool, folder, session", "aria-label": "Find a program", on: { input: () => draw() } });
    const ended = choice([["", "however it ended"], ["failed", "ended badly"], ["well", "ended well"]], "", () => draw(), { "aria-label": "How it ended" });
    const days = choice(found.days.map((one) => [one, dayShown(one)]).reverse(), found.day, (next) => {
      app.note({ day: next, session });
      showPrograms(place, next, session, app, undo);
    }, { "aria-label": "Day (UTC)" });
    function draw() {
      const fit = programsThatFit(found.lines, words.value, ended.value).reverse();
      said.textContent = `${many(fit.length, "program")}${fit.length < found.lines.length ? ` of ${found.lines.length}` : ""}${found.lines.length >= MOST ? ", the last ones of the day" : ""}`;
      replace(body, fit.map((line) => row(line, names)));
    }
    if (found.lines.length === 0 && found.days.length === 0) return [h("h2", "Programs"), nothing("No program ran yet.", "A line is written when a program is over: which one, for whom, how it ended; never what it was told or printed.")];
    draw();
    return [
      h("h2", "Programs"),
      h("div.row.wrap.narrowing", days, words, ended, said),
      session ? h("p.hint", "Only of ", names.link(session)) : null,
      found.unreadable ? h("p.caution", `${many(found.unreadable, "line")} of this day cannot be read.`) : null,
      h("div.table-scroll", { tabindex: "0", role: "group", "aria-label": "Programs" }, h("table.table.programs",
        h("thead", h("tr", ["When", "Program", "For", "Ended", "Took", "Printed"].map((head) => h("th", { scope: "col" }, head)))), body)),
    ];
  }, { lines: 6 });
}

function row(line, names) {
  return h("tr", { class: line.exit !== 0 && "failed" },
    h("td.nowrap", { title: moment(line.ts) }, clock(line.ts)),
    h("td", h("code", seen(line.argv.join(" "))), h("div.faint", seen(line.cwd)),
      line.envKeys?.length ? h("div.faint", "with ", seen(line.envKeys.join(", "))) : null),
    h("td", h("code", seen(line.tool)), line.session ? h("div", names.link(line.session)) : null),
    h("td", line.exit === 0 ? badge("0", "ok") : badge(line.exit === -1 ? "killed, or not started" : String(line.exit), "bad")),
    h("td.nowrap", duration(line.ms)),
    h("td.nowrap", bytes(line.stdoutBytes), line.stderrBytes ? h("div.faint", `${bytes(line.stderrBytes)} errors`) : null, line.truncated ? badge("cut", "warn") : null));
}
