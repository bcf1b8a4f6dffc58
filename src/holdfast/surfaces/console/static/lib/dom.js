// Makes and changes DOM nodes. Text is always text: nothing in here parses markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element.
 *
 * `tag` may carry classes (`div.card.wide`). Of `props`: `on` holds listeners by event, `style`
 * properties by name (set over the CSSOM, so a strict content policy is kept), `dataset` data
 * attributes, `class` a text or a list of texts (falsy ones are left out), `ref` a function that is
 * given the element; `value`, `checked`, `disabled`, `hidden`, `open`, `selected`, `indeterminate`
 * are properties; everything else is an attribute, left out where it is null, undefined or false.
 * Children are nodes, texts, numbers, lists of them; null, undefined and booleans are left out.
 */
export function h(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name || "div");
  if (classes.length) element.className = classes.join(" ");
  if (isChild(props)) children.unshift(props);
  else if (props) set(element, props);
  append(element, children);
  return element;
}

/** Make an element of SVG; `props` are attributes. */
export function s(tag, props, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  append(element, children);
  return element;
}

/** A text node. */
export function text(value) {
  return document.createTextNode(value === null || value === undefined ? "" : String(value));
}

/** Give an element exactly these children. */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Add children at the end. */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === true || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : text(child));
  }
  return element;
}

/** Set a text only where it changed: an unchanged node costs no layout. */
export function setText(element, value) {
  const wanted = value === null || value === undefined ? "" : String(value);
  if (element.textContent !== wanted) element.textContent = wanted;
}

/** A name that no other element of the page has, for labels. */
export function uid(prefix = "id") {
  counted += 1;
  return `${prefix}-${counted}`;
}

let counted = 0;

const PROPERTIES = new Set([
  "value", "checked", "disabled", "hidden", "open", "selected", "indeterminate", "readOnly",
]);

function isChild(value) {
  return value instanceof Node || typeof value !== "object" || Array.isArray(value);
}

function set(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, wanted] of Object.entries(value)) {
        if (property.startsWith("--")) element.style.setProperty(property, wanted);
        else element.style[property] = wanted;
      }
    } else if (name === "dataset") {
      for (const [key, wanted] of Object.entries(value)) {
        if (wanted !== null && wanted !== undefined) element.dataset[key] = wanted;
      }
    } else if (name === "class") {
      const classes = Array.isArray(value) ? value.filter(Boolean).join(" ") : value;
      if (classes) element.classList.add(...classes.split(/\s+/).filter(Boolean));
    } else if (name === "ref") {
      value(element);
    } else if (PROPERTIES.has(name)) {
      element[name] = value;
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false || name.startsWith("aria-")) {
      element.setAttribute(name, String(value));
    }
  }
}
