// Creates elements, and finds those of the page. Text is inserted as text, never parsed as HTML.

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Readonly<Record<string, string | boolean | undefined>>} [attributes] true sets an attribute without a value;
 * false and undefined set none
 * @param {readonly (Node | string | undefined)[]} [children] undefined is skipped
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, attributes = {}, children = []) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(attribute, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/**
 * @param {string} text
 * @param {"first" | "second" | "first wide" | "second wide" | "danger" | "danger-second"} look
 * @param {() => unknown} act
 */
export function button(text, look, act) {
  const made = make("button", { type: "button", class: `button ${look}` }, [text]);
  // A disabled button would lose the focus, so a busy one stays enabled and does nothing.
  made.addEventListener("click", () => isBusy(made) || act());
  return made;
}

/** @param {HTMLElement} element @param {boolean} busy */
export function setBusy(element, busy) {
  element.toggleAttribute("data-busy", busy);
  if (busy) element.setAttribute("aria-disabled", "true");
  else element.removeAttribute("aria-disabled");
}

/** @param {HTMLElement} element */
export function isBusy(element) {
  return element.hasAttribute("data-busy");
}

/**
 * Returns an element of the page. Throws if it does not exist.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element ${id}.`);
  return found;
}
