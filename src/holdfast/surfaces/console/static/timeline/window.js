// A long list of which only the rows around the view exist. It knows heights, and no timeline.
//
// Rows that were never shown have a guessed height; a ResizeObserver tells the real ones, so
// nothing is ever measured by asking for it. What changes above the view moves the scroll position
// by as much, within the same frame: what a person reads stays where it is. While the view is at
// the bottom it stays there.

import { h } from "../lib/dom.js";
import { heightTree } from "./heights.js";

const GUESS = 64;
const MARGIN = 900;
const NEAR = 24;

/**
 * A windowed list inside of `scroller`. `draw(row, before)` gives the element of a row, and may
 * give back `before`, the element it had. Rows have a `key` and a `rev`.
 * `onBottom(atBottom)` is told when the view comes to the bottom or leaves it, `onTop()` when it
 * comes near the beginning.
 */
export function makeWindow(scroller, { draw, dispose = () => {}, onBottom = () => {}, onTop = () => {}, label }) {
  const before = h("div.window-space", { "aria-hidden": "true" });
  const after = h("div.window-space", { "aria-hidden": "true" });
  const body = h("div.window-rows", { role: "feed", "aria-label": label });
  const root = h("div.window", before, body, after);
  const known = new Map();
  const shown = new Map();
  let rows = [];
  let places = new Map();
  let heights = heightTree([]);
  let range = { first: 0, last: -1 };
  let stick = true;
  let frame = 0;
  let view = { top: 0, height: 0, width: 0 };
  let over = false;
  let pendingTop = null;

  const sizes = new ResizeObserver((changes) => measured(changes));
  const frameSize = new ResizeObserver(([change]) => {
    const { width, height } = change.contentRect;
    const wider = view.width && Math.abs(width - view.width) > 1;
    view = { ...view, width, height };
    if (wider) forget();
    if (stick) toBottom();
    later();
  });

  function scrolled() {
    const top = scroller.scrollTop;
    const below = scroller.scrollHeight - scroller.clientHeight - top;
    // Content that grows is followed at once, so that only a person can have moved away.
    if (stick && below > NEAR) setStick(false);
    else if (!stick && below <= NEAR && top > view.top) setStick(true);
    view.top = top;
    if (top < 1500) onTop();
    later();
  }

  function setStick(value) {
    if (stick === value) return;
    stick = value;
    onBottom(value);
  }

  function later() {
    if (!frame && !over) frame = requestAnimationFrame(paint);
  }

  function paint() {
    frame = 0;
    if (over) return;
    const top = stick ? Math.max(0, heights.total() - view.height) : view.top;
    const first = heights.at(Math.max(0, top - MARGIN));
    const last = Math.min(rows.length - 1, heights.at(top + view.height + MARGIN));
    render(first, last);
  }

  function render(first, last) {
    const wanted = new Set();
    for (let at = first; at <= last; at += 1) wanted.add(rows[at].key);
    for (const [key, one] of shown) {
      if (wanted.has(key)) continue;
      if (one.element.contains(document.activeElement)) {
        // Whoever works with the keyboard keeps their place.
        one.kept = true;
      }
      sizes.unobserve(one.element);
      one.element.remove();
      dispose(one.element, one.row);
      shown.delete(key);
    }
    let next = body.firstElementChild;
    for (let at = first; at <= last; at += 1) {
      const row = rows[at];
      let one = shown.get(row.key);
      if (!one) {
        const element = draw(row, null);
        one = { element, row };
        element.dataset.key = row.key;
        shown.set(row.key, one);
        body.insertBefore(element, next);
        sizes.observe(element);
      } else {
        if (one.row.rev !== row.rev || one.row.joined !== row.joined) {
          const element = draw(row, one.element);
          if (element !== one.element) {
            sizes.unobserve(one.element);
            one.element.replaceWith(element);
            dispose(one.element, one.row);
            element.dataset.key = row.key;
            if (next === one.element) next = element;
            one.element = element;
            sizes.observe(element);
          }
          one.row = row;
        }
        if (one.element === next) next = next.nextElementSibling;
        else body.insertBefore(one.element, next);
      }
      one.element.setAttribute("aria-posinset", at + 1);
      one.element.setAttribute("aria-setsize", rows.length);
    }
    range = { first, last };
    space();
  }

  function space() {
    before.style.height = `${heights.sum(range.first)}px`;
    after.style.height = `${Math.max(0, heights.total() - heights.sum(range.last + 1))}px`;
    if (stick) toBottom();
  }

  function toBottom() {
    scroller.scrollTop = 1e9;
    view.top = Math.max(0, heights.total() - view.height);
  }

  function measured(changes) {
    let shift = 0;
    const anchor = heights.at(view.top);
    for (const change of changes) {
      const key = change.target.dataset.key;
      const height = change.borderBoxSize[0].blockSize;
      const place = places.get(key);
      if (place === undefined || !change.target.isConnected) continue;
      const delta = height - heights.get(place);
      known.set(key, height);
      if (Math.abs(delta) < 0.5) continue;
      heights.set(place, height);
      if (place < anchor) shift += delta;
    }
    space();
    if (stick) toBottom();
    else if (shift) {
      view.top += shift;
      scroller.scrollTop = view.top;
    }
    later();
  }

  function forget() {
    known.clear();
    for (const one of shown.values()) known.set(one.row.key, heights.get(places.get(one.row.key) ?? 0));
    heights = heightTree(rows.map((row) => known.get(row.key) ?? guess(row)));
  }

  function guess(row) {
    return row.guess ?? GUESS;
  }

  scroller.addEventListener("scroll", scrolled, { passive: true });
  frameSize.observe(scroller);
  return {
    root,
    /** Show these rows. What was added at the beginning moves nothing that is in view. */
    set(next) {
      const anchorPlace = rows.length ? heights.at(view.top) : 0;
      const anchor = rows[anchorPlace];
      const offset = anchor ? view.top - heights.sum(anchorPlace) : 0;
      const sameStart = rows.length > 0 && next.length >= rows.length && rows.every((row, at) => next[at].key === row.key);
      rows = next;
      if (sameStart) {
        for (let at = heights.count(); at < rows.length; at += 1) {
          places.set(rows[at].key, at);
          heights.push(known.get(rows[at].key) ?? guess(rows[at]));
        }
      } else {
        places = new Map(rows.map((row, at) => [row.key, at]));
        heights = heightTree(rows.map((row) => known.get(row.key) ?? guess(row)));
        const place = anchor ? places.get(anchor.key) : undefined;
        if (!stick && place !== undefined) {
          const top = heights.sum(place) + offset;
          if (Math.abs(top - view.top) > 0.5) {
            before.style.height = `${heights.sum(place)}px`;
            view.top = top;
            pendingTop = top;
          }
        }
      }
      later();
      if (pendingTop !== null) {
        cancelAnimationFrame(frame);
        paint();
        scroller.scrollTop = pendingTop;
        pendingTop = null;
      }
    },
    /** Bring a row into view, by its key. */
    show(key, { focus = false } = {}) {
      const place = places.get(key);
      if (place === undefined) return false;
      setStick(false);
      view.top = Math.max(0, heights.sum(place) - view.height / 3);
      paint();
      scroller.scrollTop = view.top;
      const element = shown.get(key)?.element;
      if (focus) element?.focus({ preventScroll: true });
      element?.classList.add("pointed");
      setTimeout(() => element?.classList.remove("pointed"), 1600);
      return true;
    },
    bottom() {
      setStick(true);
      toBottom();
      later();
    },
    top() {
      setStick(false);
      view.top = 0;
      paint();
      scroller.scrollTop = 0;
    },
    get atBottom() {
      return stick;
    },
    element: (key) => shown.get(key)?.element ?? null,
    /** The row that has the focus moves by one; false where there is none. */
    step(by) {
      const here = document.activeElement?.closest?.("[data-key]");
      const at = here && body.contains(here) ? places.get(here.dataset.key) : (by > 0 ? heights.at(view.top) - 1 : heights.at(view.top + view.height) + 1);
      const place = Math.max(0, Math.min(rows.length - 1, at + by));
      if (!rows[place]) return false;
      if (!shown.has(rows[place].key)) render(Math.min(range.first, place), Math.max(range.last, place));
      const element = shown.get(rows[place].key).element;
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "nearest" });
      return true;
    },
    dispose() {
      over = true;
      cancelAnimationFrame(frame);
      sizes.disconnect();
      frameSize.disconnect();
      scroller.removeEventListener("scroll", scrolled);
      for (const one of shown.values()) dispose(one.element, one.row);
    },
  };
}

