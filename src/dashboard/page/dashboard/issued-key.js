// Shows the secret of a new key, once. The page keeps it only in these elements.
import { copyField } from "./copying.js";
import { button, make } from "./elements.js";

/**
 * @param {import("./api.js").IssuedKey} issued
 * @param {string} happened
 * @param {string} baseUrl
 * @param {() => void} onDone
 */
export function issuedKey({ key }, happened, baseUrl, onDone) {
  // Gets the focus, so that screen readers read its name and the text below.
  return make(
    "section",
    {
      class: "issued",
      id: "issued-key",
      tabindex: "-1",
      "aria-labelledby": "issued-title",
      "aria-describedby": "issued-text",
    },
    [
      make("h3", { id: "issued-title" }, ["Your new API key"]),
      make("p", { id: "issued-text" }, [
        `${happened} `,
        make("strong", {}, ["Copy the new key now. It is not shown again."]),
      ]),
      copyField({ id: "secret", name: "API key", value: key, copy: "Copy key" }, "first"),
      copyField({
        id: "secret-command",
        name: "Try it in a terminal",
        value: `curl '${baseUrl}/v1/contacts?query=ann' \\\n  -H 'Authorization: Bearer ${key}'`,
        copy: "Copy command",
      }),
      make("div", { class: "buttons" }, [button("Done", "second", onDone)]),
    ],
  );
}
