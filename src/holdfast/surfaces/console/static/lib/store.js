// A value that tells whoever listens when it changes. Knows nothing of pages.

/**
 * Keep a value: `get()`, `set(value)`, `change(fn)`, `watch(listener) -> stop`. A listener is told
 * the present value at once, and each one that is not the same as the one before.
 */
export function store(initial) {
  let value = initial;
  const listeners = new Set();
  const set = (next) => {
    if (Object.is(next, value)) return;
    value = next;
    for (const listener of [...listeners]) listener(value);
  };
  return {
    get: () => value,
    set,
    change: (fn) => set(fn(value)),
    watch: (listener) => {
      listeners.add(listener);
      listener(value);
      return () => listeners.delete(listener);
    },
  };
}

/** Things to undo when a page is left: `add(fn)`, and `dispose()` runs them once, last first. */
export function disposer() {
  const undoes = [];
  let over = false;
  return {
    add: (undo) => {
      if (typeof undo !== "function") return undo;
      if (over) undo();
      else undoes.push(undo);
      return undo;
    },
    listen: (target, event, listener, options) => {
      target.addEventListener(event, listener, options);
      undoes.push(() => target.removeEventListener(event, listener, options));
    },
    get over() {
      return over;
    },
    dispose: () => {
      if (over) return;
      over = true;
      while (undoes.length) undoes.pop()();
    },
  };
}
