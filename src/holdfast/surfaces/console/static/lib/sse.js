// Reads the text of server-sent events, in whatever pieces it comes. Pure: knows no network.

/**
 * A reader of one stream: `feed(text)` gives the messages that are whole by now, each
 * `{event, data, id}`; `id` is null where the message had none. Comments are passed over.
 */
export function sseReader() {
  let rest = "";
  let fresh = empty();
  let first = true;

  function line(content, told) {
    if (content === "") {
      if (fresh.lines.length) {
        told.push({ event: fresh.event || "message", data: fresh.lines.join("\n"), id: fresh.id });
      }
      fresh = empty();
      return;
    }
    if (content.startsWith(":")) return;
    const colon = content.indexOf(":");
    const field = colon < 0 ? content : content.slice(0, colon);
    let value = colon < 0 ? "" : content.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") fresh.lines.push(value);
    else if (field === "event") fresh.event = value;
    else if (field === "id" && !value.includes("\0")) fresh.id = value;
  }

  return {
    feed(piece) {
      const told = [];
      rest += piece;
      if (first && rest.length) {
        if (rest.startsWith("\ufeff")) rest = rest.slice(1);
        first = false;
      }
      let start = 0;
      for (;;) {
        const end = lineEnd(rest, start);
        if (end === null) break;
        line(rest.slice(start, end.at), told);
        start = end.next;
      }
      rest = rest.slice(start);
      return told;
    },
  };
}

function empty() {
  return { event: "", lines: [], id: null };
}

/** Where the next line ends. A carriage return at the very end may be half of a line end. */
function lineEnd(content, start) {
  for (let at = start; at < content.length; at += 1) {
    const sign = content[at];
    if (sign === "\n") return { at, next: at + 1 };
    if (sign === "\r") {
      if (at + 1 === content.length) return null;
      return { at, next: content[at + 1] === "\n" ? at + 2 : at + 1 };
    }
  }
  return null;
}
