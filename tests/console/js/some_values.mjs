/** Values that fit a field, made from a seed: the same seed gives the same value. */

export function someOf(field, seed) {
  let state = seed * 2654435761;
  const dice = (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) >>> 0;
    return state % sides;
  };
  return some(field, dice, 0);
}

function some(field, dice, depth) {
  if (field.nullable && dice(4) === 0) return null;
  const few = depth > 4 ? 0 : 3;
  switch (field.kind) {
    case "text":
      return ["", "a", "two words", "line\nline", "ü\u202e"][dice(5)] + "x".repeat(field.shortest);
    case "number":
      return (field.least ?? 0) + dice(9) + (field.whole ? 0 : 0.5);
    case "boolean":
      return dice(2) === 1;
    case "null":
      return null;
    case "choice":
      return field.values[dice(field.values.length)];
    case "list":
      return Array.from({ length: Math.max(field.fewest, dice(few + 1)) }, () => some(field.item, dice, depth + 1));
    case "variant":
      return some(field.options[dice(field.options.length)], dice, depth + 1);
    case "object":
      return someObject(field, dice, depth);
    default:
      return [1, "free", [null], { any: true }][dice(4)];
  }
}

function someObject(field, dice, depth) {
  const made = {};
  for (const one of field.members) {
    if (one.required || dice(2) === 1) made[one.name] = some(one.field, dice, depth + 1);
  }
  if (field.others !== null && dice(2) === 1) made.further = some(field.others, dice, depth + 1);
  return made;
}
