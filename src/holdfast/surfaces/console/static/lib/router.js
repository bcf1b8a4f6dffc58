// Which page an address means. It keeps the history, and shows and disposes pages; it makes none.

/**
 * A router over page modules. A page's `path` is an address with `:names` for parts of it, or a
 * list of such addresses; `show(root, params, app)` fills the root and gives back what disposes it.
 * `params` holds the named parts, and `query` (URLSearchParams).
 */
export function makeRouter(pages, { root, app, shown = () => {}, missing }) {
  const table = pages.flatMap((page) =>
    [page.path].flat().map((path) => ({ page, parts: path.split("/").filter(Boolean) })),
  );
  let dispose = null;
  let current = null;

  function find(pathname) {
    const parts = pathname.split("/").filter(Boolean);
    for (const row of table) {
      const params = match(row.parts, parts);
      if (params) return { page: row.page, params };
    }
    return null;
  }

  function show(url) {
    const found = find(url.pathname) ?? { page: missing, params: {} };
    const params = { ...found.params, query: url.searchParams };
    leave();
    const place = document.createElement("div");
    place.className = "page";
    root.replaceChildren(place);
    root.scrollTop = 0;
    current = { page: found.page, url };
    shown(found.page, url);
    try {
      const undo = found.page.show(place, params, app);
      dispose = typeof undo === "function" ? undo : null;
    } catch (problem) {
      dispose = null;
      missing.show(place, { problem, query: url.searchParams }, app);
      throw problem;
    }
  }

  function leave() {
    const undo = dispose;
    dispose = null;
    undo?.();
  }

  function go(to, { replace = false } = {}) {
    const url = new URL(to, location.href);
    if (url.href === location.href && current) replace = true;
    history[replace ? "replaceState" : "pushState"](null, "", url);
    show(url);
  }

  /** Change the part behind the question mark without showing the page again. */
  function note(query) {
    const url = new URL(location.href);
    url.search = new URLSearchParams(
      Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""),
    ).toString();
    history.replaceState(null, "", url);
  }

  window.addEventListener("popstate", () => show(new URL(location.href)));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.("a[href]");
    if (!link || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !find(url.pathname)) return;
    event.preventDefault();
    go(url.href);
  });

  return { go, note, start: () => show(new URL(location.href)), get current() { return current; } };
}

/** The named parts of an address that fits; null: it does not. */
export function match(wanted, parts) {
  if (wanted.length !== parts.length) return null;
  const params = {};
  for (let at = 0; at < wanted.length; at += 1) {
    if (wanted[at].startsWith(":")) {
      try {
        params[wanted[at].slice(1)] = decodeURIComponent(parts[at]);
      } catch {
        return null;
      }
    } else if (wanted[at] !== parts[at]) return null;
  }
  return params;
}
