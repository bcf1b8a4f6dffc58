// The console: what stands around every page. It keeps the one connection that tells of the whole
// home, who waits for a person, and the toasts; what a page shows is that page's own.

import { api, ApiError } from "./lib/api.js";
import { h, replace, setText } from "./lib/dom.js";
import { icon } from "./lib/icons.js";
import { keyCaps, makeKeys } from "./lib/keys.js";
import { button, dialog, makeToasts, nothing, problemBox, startAges } from "./lib/parts.js";
import { makeRouter } from "./lib/router.js";
import { disposer, store } from "./lib/store.js";
import { pages } from "./pages/index.js";

const NOBODY = { approvals: 0, questions: 0, requests: 0 };

/**
 * What pages are handed: `api`, `keys`, `go(path)`, `note(query)`, `toast(text, {tone})`,
 * `problem(error)`, stores `waiting` (counts), `sessions` (rows by id, as the home's stream tells
 * them), `server` (GET /server) and `link` (the connection), and `disposer()`.
 */
const app = {
  api,
  keys: makeKeys(),
  disposer,
  waiting: store(NOBODY),
  sessions: store(new Map()),
  server: store(null),
  link: store({ state: "connecting" }),
};

const toasts = makeToasts();
app.toast = toasts.toast;
app.problem = toasts.problem;

const main = h("main.stage", { id: "main", tabindex: "-1" });
const nav = h("nav.nav", { "aria-label": "Pages" });
const side = h("aside.side", { id: "side" });
const scrim = h("div.scrim", { on: { click: () => menu(false) } });

const missing = {
  title: "Not found",
  show(root, { problem }) {
    replace(root, problem
      ? h("div.page-pad", problemBox(problem))
      : h("div.page-pad", nothing("There is no such page.", "The address may be of another version of holdfast.",
          h("a", { href: "/console" }, "Sessions"))));
  },
};

const router = makeRouter(pages, { root: main, app, shown, missing });
app.go = router.go;
app.note = router.note;

function shown(page) {
  app.title(page.title);
  for (const link of nav.querySelectorAll("a")) {
    const here = link.dataset.page === (page.nav ? page.title : page.within ?? page.title);
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  menu(false);
}

let titled = "";

/** Say in the window's title where a person is, and how much waits for them. */
app.title = (title) => {
  titled = title;
  const { approvals, questions } = app.waiting.get();
  const count = approvals + questions;
  document.title = `${count ? `(${count}) ` : ""}${title} · holdfast`;
};

function layout() {
  replace(
    document.getElementById("app"),
    h("a.skip", { href: "#main", on: { click: (event) => { event.preventDefault(); main.focus(); } } }, "Skip to content"),
    h("header.bar",
      button({ label: "Menu", icon: "menu", kind: "quiet", bare: true, action: () => menu(!document.body.classList.contains("menu-open")), props: { class: "bar-menu", "aria-controls": "side" } }),
      h("a.brand", { href: "/console" }, mark(), h("span", "holdfast")),
      h("div.bar-waiting", waitingPill())),
    replace(side,
      h("a.brand", { href: "/console" }, mark(), h("span", "holdfast")),
      place(),
      nav,
      h("div.side-foot", linkState(), h("div.side-tools",
        themeSwitch(),
        button({ label: "Keyboard shortcuts", icon: "keyboard", kind: "quiet", bare: true, action: help })))),
    scrim,
    main,
    toasts.root,
  );
  navigation();
}

function mark() {
  const picture = h("span.brand-mark", { "aria-hidden": "true" });
  const shape = icon("sessions", { size: 18 });
  shape.firstChild.setAttribute("d", "M4.500 2v12M4.500 7.500C5.800 5.600 11 5.100 11 8.600v1.800a1.500 1.500 0 0 1-3 0");
  shape.firstChild.setAttribute("stroke-width", "2");
  picture.append(shape);
  return picture;
}

function place() {
  const name = h("span.place-name");
  const profile = h("span.place-profile");
  const element = h("div.place", name, profile);
  app.server.watch((server) => {
    const folder = server?.project ?? server?.workspace ?? "";
    setText(name, folder.split("/").filter(Boolean).at(-1) ?? "");
    setText(profile, server ? `profile ${server.profile}` : "");
    element.title = folder;
  });
  return element;
}

function navigation() {
  const groups = new Map();
  for (const page of pages.filter((one) => one.nav)) {
    const { label, icon: name, group = "", badge = null } = page.nav;
    const count = h("span.nav-count", { hidden: true });
    const link = h("a.nav-link", { href: [page.path].flat()[0], dataset: { page: page.title } }, icon(name), h("span.nav-label", label), count);
    if (badge) {
      app.waiting.watch((waiting) => {
        const number = badge(waiting);
        count.hidden = !number;
        replace(count, number || "", h("span.only-heard", " waiting"));
      });
    }
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(h("li", link));
    if (page.nav.keys) app.keys.bind(page.nav.keys, label, () => app.go(link.getAttribute("href")), { group: "Go to" });
  }
  replace(nav, [...groups].map(([group, links]) => h("div.nav-group", group ? h("h2", group) : null, h("ul", links))));
}

function waitingPill() {
  const pill = h("a.waiting-pill", { href: "/console/approvals", hidden: true });
  app.waiting.watch(({ approvals, questions }) => {
    const count = approvals + questions;
    pill.hidden = !count;
    setText(pill, `${count} waiting`);
    if (titled) app.title(titled);
  });
  return pill;
}

function linkState() {
  const dot = h("span.link-dot", { "aria-hidden": "true" });
  const label = h("span");
  const element = h("div.link-state", { role: "status" }, dot, label);
  app.link.watch(({ state, problem }) => {
    element.dataset.state = state;
    setText(label, { open: "Connected", connecting: "Connecting", waiting: "Reconnecting", refused: problem?.status === 401 ? "Not signed in" : "Refused" }[state]);
  });
  return element;
}

function themeSwitch() {
  const element = button({ label: "Light or dark", icon: "moon", kind: "quiet", bare: true, action: () => {
    const dark = isDark();
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("holdfast.theme", document.documentElement.dataset.theme);
    } catch {
      // It holds for this page then.
    }
    draw();
  } });
  const draw = () => replace(element, icon(isDark() ? "sun" : "moon"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  return element;
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function menu(open) {
  document.body.classList.toggle("menu-open", open);
  document.querySelector(".bar-menu")?.setAttribute("aria-expanded", String(open));
}

function help() {
  if (document.querySelector("dialog[open]")) return;
  dialog("Keyboard shortcuts", (body) => {
    const groups = Map.groupBy ? Map.groupBy(app.keys.all(), (one) => one.group) : grouped(app.keys.all());
    replace(body, h("div.key-groups", [...groups].map(([group, all]) => h("section", h("h3", group),
      h("dl.key-list", all.map((one) => h("div", h("dt", keyCaps(one.keys)), h("dd", one.label))))))));
  });
}

function grouped(all) {
  const groups = new Map();
  for (const one of all) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  return groups;
}

function follow() {
  app.api.stream("/stream", {
    on: {
      sessions: ({ sessions = [], gone = [] }) => app.sessions.change((before) => {
        const rows = new Map(before);
        for (const row of sessions) rows.set(row.id, row);
        for (const id of gone) rows.delete(id);
        return rows;
      }),
      waiting: (counts) => app.waiting.set({ ...NOBODY, ...counts }),
    },
    onState: (state, detail) => {
      app.link.set({ state, problem: detail instanceof ApiError ? detail : null });
      if (state === "open" && !app.server.get()) told();
      if (state === "refused") app.toast(detail.message, { tone: "bad", next: detail.next });
    },
  });
}

async function told() {
  try {
    app.server.set(await api.get("/server"));
  } catch (problem) {
    app.link.set({ state: problem.status ? "refused" : "waiting", problem });
  }
}

layout();
app.keys.bind("?", "Show this help", help, { group: "Everywhere" });
app.keys.bind("Escape", "", () => (document.body.classList.contains("menu-open") ? menu(false) : false), { typing: true, group: "Everywhere" });
startAges(document.body);
follow();
router.start();
