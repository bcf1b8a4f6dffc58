// Policy: why a call would run or not, the rules in force, and the answers that are remembered.

import { callForm } from "../forms/call_form.js";
import { h, replace, uid } from "../lib/dom.js";
import { many } from "../lib/format.js";
import { badge, button, confirmed, loaded, nothing } from "../lib/parts.js";
import { explainer } from "../review/explainer.js";
import { tabs } from "../review/tabs.js";
import { grantsOf, rulesOf } from "../review/wire.js";
import { seen } from "../text/shown.js";

const TONES = { allow: "ok", ask: "warn", deny: "bad" };

export const page = {
  path: "/console/policy",
  title: "Policy",
  nav: { label: "Policy", icon: "shield", keys: "g p", group: "Look" },
  show(root, params, app) {
    const undo = app.disposer();
    const pages = tabs("Policy", [
      ["explain", "Explain a call", (place) => explainPage(place, params, app, undo)],
      ["rules", "Rules in force", (place) => rulesPage(place, app)],
      ["grants", "Remembered answers", (place) => grantsPage(place, app)],
    ], params.query.get("show") ?? "explain", (show) => app.note({ show }));
    replace(root, h("div.page-pad", h("header.page-head", h("h1", "Policy")), pages));
    return undo.dispose;
  },
};

function explainPage(place, params, app, undo) {
  loaded(place, () => app.api.get("/tools"), ({ tools }) => {
    const known = new Map(tools.map((tool) => [tool.name, tool]));
    const names = uid("names");
    const chosen = h("input", { type: "text", list: names, id: uid("tool"), autocomplete: "off", spellcheck: "false", value: params.query.get("tool") ?? "bash", on: { input: () => draw() } });
    const told = explainer(app, () => chosen.value.trim());
    undo.add(told.dispose);
    const body = h("div");
    const draw = () => {
      const tool = known.get(chosen.value.trim());
      const form = callForm(tool?.input_schema ?? true, () => told.soon(form.text(), form.ready()));
      replace(body, form);
      told.soon(form.text(), form.ready());
    };
    draw();
    return h("div.bench-work",
      h("div.bench-form", h("div.field", h("label", { for: chosen.id }, "Tool"), chosen,
        h("datalist", { id: names }, tools.map((tool) => h("option", { value: tool.name })))), body),
      h("aside.bench-why", { "aria-label": "What would happen" }, h("h2", "What would happen"), told.root));
  });
}

function rulesPage(place, app) {
  loaded(place, () => app.api.get("/policy/rules"), (found) => {
    const rules = rulesOf(found);
    if (rules.length === 0) return nothing("There are no rules.", "What no rule speaks of is asked about, unless somebody vouches for the tool.");
    const body = h("tbody");
    const filter = h("input", { type: "search", placeholder: "Find a rule", "aria-label": "Find a rule", on: { input: () => draw() } });
    const counted = h("p.hint", { role: "status" });
    const draw = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      const shown = rules.filter((rule) => words.every((word) => [scopeOf(rule), rule.permission, rule.pattern, rule.action, rule.reason, rule.source].join(" ").toLowerCase().includes(word)));
      counted.textContent = shown.length === rules.length ? many(rules.length, "rule") : `${shown.length} of ${many(rules.length, "rule")}`;
      replace(body, shown.map((rule) => h("tr",
        h("td", badge(rule.action, TONES[rule.action])),
        h("td", h("code", seen(rule.permission))),
        h("td", h("code", seen(rule.pattern))),
        h("td", scopeOf(rule)),
        h("td", rule.reason ? seen(rule.reason) : null, h("div.faint", seen(rule.source))))));
    };
    draw();
    return h("div.stack", h("div.row.wrap.narrowing", filter, counted), table(["Says", "Permission", "Pattern", "Scope", "Why, and where"], body));
  });
}

function scopeOf(rule) {
  if (rule.remembered) return "remembered";
  if (rule.only_narrows) return "not trusted";
  return rule.pinned ? `${rule.scope}, pinned` : rule.scope;
}

function table(heads, body) {
  return h("div.table-scroll", { tabindex: "0", role: "group", "aria-label": "Table" }, h("table.table", h("thead", h("tr", heads.map((head) => h("th", { scope: "col" }, head)))), body));
}

function grantsPage(place, app) {
  const again = loaded(place, () => app.api.get("/policy/grants"), (found) => {
    const grants = grantsOf(found);
    const project = found.project;
    if (grants.length === 0) return nothing("Nothing is remembered.", project ? `For ${project}.` : "Answers for the project would stand here.");
    return h("div.stack",
      h("p.hint", "Sessions that are open keep the answers they began with."),
      table(["", "Permission", "Pattern", "By", "When", ""], h("tbody", grants.map((grant) => h("tr",
        h("td", badge(grant.action, TONES[grant.action])),
        h("td", h("code", seen(grant.permission)), grant.capability ? h("div.faint", grant.capability) : null),
        h("td", h("code", seen(grant.pattern))),
        h("td", seen(grant.by ?? "")),
        h("td.nowrap", grant.at ? new Date(grant.at).toLocaleString() : ""),
        h("td", button({ label: "Revoke", kind: "danger", small: true, props: { "aria-label": `Revoke ${grant.permission} ${grant.pattern}` }, action: () => revoke(grant) })))))));
  });
  async function revoke(grant) {
    const yes = await confirmed("Take this answer back?", `${grant.permission} ${grant.pattern} is asked about again, in sessions that begin from now on.`, "Revoke");
    if (!yes) return;
    try {
      await app.api.del(`/policy/grants/${encodeURIComponent(grant.id)}`);
      app.toast("It is forgotten.", { tone: "ok" });
    } catch (problem) {
      app.problem(problem);
    }
    again();
  }
}
