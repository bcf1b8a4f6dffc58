// The heights of many rows, and where each begins: every question costs a few steps. Pure.

/** A tree of sums (after Fenwick) over heights. */
export function heightTree(initial) {
  let values = Float64Array.from(initial);
  let size = values.length;
  let sums = built(values);

  function built(from) {
    const tree = new Float64Array(from.length + 1);
    for (let at = 1; at <= from.length; at += 1) {
      tree[at] += from[at - 1];
      const parent = at + (at & -at);
      if (parent <= from.length) tree[parent] += tree[at];
    }
    return tree;
  }

  function sum(count) {
    let total = 0;
    for (let at = Math.min(count, size); at > 0; at -= at & -at) total += sums[at];
    return total;
  }

  return {
    count: () => size,
    get: (place) => values[place] ?? 0,
    /** The height of the first so many rows together. */
    sum,
    total: () => sum(size),
    set(place, height) {
      const delta = height - values[place];
      values[place] = height;
      for (let at = place + 1; at < sums.length; at += at & -at) sums[at] += delta;
    },
    push(height) {
      if (size === values.length) {
        const wider = new Float64Array(Math.max(16, values.length * 2));
        wider.set(values);
        values = wider;
        values[size] = height;
        size += 1;
        sums = built(values);
        return;
      }
      values[size] = 0;
      size += 1;
      this.set(size - 1, height);
    },
    /** The row that stands at this distance from the beginning; the last one behind the end. */
    at(offset) {
      let place = 0;
      let left = offset;
      let step = 1;
      while (step * 2 < sums.length) step *= 2;
      for (; step > 0; step >>= 1) {
        const next = place + step;
        if (next < sums.length && next <= size && sums[next] <= left) {
          place = next;
          left -= sums[next];
        }
      }
      return Math.max(0, Math.min(place, size - 1));
    },
  };
}
