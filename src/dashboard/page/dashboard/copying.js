// Copies the values of copyable fields, and confirms it beside them.
import { button, make } from "./elements.js";

const saidForMs = 4000;

/** Enables the buttons of the fields that the page already contains. */
export function startCopying() {
  for (const copy of document.querySelectorAll("button[data-copies]")) {
    const value = document.getElementById(copy.getAttribute("data-copies") ?? "");
    const said = copy.closest(".field")?.querySelector(".said");
    if (!(copy instanceof HTMLElement) || value === null || !(said instanceof HTMLElement)) continue;
    copy.addEventListener("click", () => copyText(value, said));
    copy.hidden = false;
  }
}

/**
 * Creates a field like those of the page, for a value that is too long for a button beside it.
 * @param {{ id: string, name: string, value: string, copy: string }} field
 * @param {"first" | "second"} [look] of its button, which is as wide as the field
 */
export function copyField({ id, name, value, copy }, look = "second") {
  const code = make("code", { class: "value", id, tabindex: "0", role: "group", "aria-label": name }, [value]);
  const said = make("span", { class: "said", role: "status" });
  return make("div", { class: "field" }, [
    make("div", { class: "field-head" }, [make("span", {}, [name]), said]),
    make("div", { class: "field-body" }, [code]),
    button(copy, `${look} wide`, () => copyText(code, said)),
  ]);
}

/** @param {HTMLElement} value @param {HTMLElement} said */
async function copyText(value, said) {
  try {
    // The clipboard is missing if the page came by plain http from another machine, and can be denied.
    await navigator.clipboard.writeText(value.textContent ?? "");
    say(said, "Copied");
  } catch {
    getSelection()?.selectAllChildren(value);
    say(said, "Selected. Copy it with the keyboard.");
  }
}

/** @param {HTMLElement} said @param {string} text */
function say(said, text) {
  said.textContent = text;
  setTimeout(() => {
    said.textContent = "";
  }, saidForMs);
}
