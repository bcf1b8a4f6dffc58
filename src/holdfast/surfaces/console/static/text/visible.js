/**
 * Text with characters that nobody sees made visible: whoever decides has to see what there is.
 *
 * It takes text apart and nothing else; how it is shown is not known here.
 */

const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu;

/** `[{text, unseen}]`: what is unseen is told by its number, such as `U+202E`. */
export function visible(text) {
  const told = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) told.push({ text: text.slice(from, match.index), unseen: false });
    told.push({ text: numbered(match[0]), unseen: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) told.push({ text: text.slice(from), unseen: false });
  return told;
}

/** Whether there is anything that nobody would see. */
export function hasUnseen(text) {
  return visible(text).some((one) => one.unseen);
}

function numbered(character) {
  return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
