/** Says when what waits for a person may be another list than before. It asks nothing itself. */

const GATHERING_MS = 120;

/** Calls `look` when the counts of the home or a session that waits changed; gives what ends that. */
export function whenWaitingChanges(app, kind, look) {
  let timer = 0;
  let before = null;
  let told = false;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(look, GATHERING_MS);
  };
  const stops = [
    app.waiting.watch(() => (told ? soon() : null)),
    app.sessions.watch((rows) => {
      const now = signature(rows, kind);
      if (before !== null && now !== before) soon();
      before = now;
    }),
  ];
  told = true;
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}

function signature(rows, kind) {
  return [...rows.values()]
    .filter((row) => row.waiting?.[kind] > 0)
    .map((row) => `${row.id}:${row.waiting[kind]}:${row.events}`)
    .sort()
    .join(" ");
}
