// Access levels of a key: their labels, and the selector.
import { make } from "./elements.js";

/** @typedef {import("./api.js").Access} Access */

/** @type {readonly { access: Access, name: string, means: string }[]} */
const choices = [
  {
    access: "read_write",
    name: "Read and write",
    means: "Can find and read everything, add and change contacts, and add notes.",
  },
  { access: "read_only", name: "Read only", means: "Can find and read everything, but cannot change anything." },
];

/** @param {string} access */
export function nameOf(access) {
  return choices.find((choice) => choice.access === access)?.name ?? access;
}

/**
 * @param {string} name of the group, unique on the page
 * @param {Access} chosen
 */
export function accessChoice(name, chosen) {
  const element = make("fieldset", { class: "choice" }, [
    make("legend", {}, ["Access"]),
    ...choices.map(({ access, name: label, means }) => {
      const id = `${name}-${access}`;
      return make("div", { class: "option" }, [
        make("input", {
          type: "radio",
          id,
          name,
          value: access,
          checked: access === chosen,
          "aria-describedby": `${id}-means`,
        }),
        make("label", { for: id }, [label]),
        make("p", { id: `${id}-means` }, [means]),
      ]);
    }),
  ]);
  /** @returns {Access} */
  const read = () =>
    element.querySelector("input:checked")?.getAttribute("value") === "read_only" ? "read_only" : "read_write";
  return { element, read };
}
