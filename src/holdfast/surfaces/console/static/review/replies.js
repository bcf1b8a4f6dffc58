/**
 * What a person has chosen and written so far, and the replies that this comes to. Pure.
 */

/** One model a question: what is chosen by its place, and own words. */
export function begunReplies(questions) {
  return questions.map(() => ({ chosen: new Set(), own: "" }));
}

/** An option was marked or unmarked; where one answer is wanted, it takes the place of all else. */
export function chosen(model, at, on, many) {
  if (!many) {
    model.chosen.clear();
    if (on) model.own = "";
  }
  if (on) model.chosen.add(at);
  else model.chosen.delete(at);
}

/** Own words were written; where one answer is wanted, they take the place of an option. */
export function worded(model, text, many) {
  model.own = text;
  if (!many && text.trim() !== "") model.chosen.clear();
}

/** One list of answers a question, in their order. */
export function repliesOf(questions, models) {
  return questions.map((question, at) => {
    const labels = (question.options ?? []).map((one) => one.label);
    const marked = labels.filter((_, place) => models[at].chosen.has(place));
    const own = models[at].own.trim();
    return own === "" ? marked : [...marked, own];
  });
}

/** What is not answered as it has to be: `[{at, message}]`. Several answers may be none at all. */
export function misfits(questions, models) {
  return repliesOf(questions, models).flatMap((given, at) => {
    if (questions[at].multi_select === true || given.length === 1) return [];
    return [{ at, message: given.length === 0 ? "Choose one, or write your own; or skip." : "One answer is wanted." }];
  });
}
