// Shows the secret of a new key, once, and tries it. The page keeps it only in these elements.
import { alertOf } from "./alert.js";
import { tryKey, tryPath } from "./api.js";
import { copyField } from "./copying.js";
import { button, make, setBusy } from "./elements.js";

/**
 * @param {import("./api.js").IssuedKey} issued
 * @param {string} happened
 * @param {string} baseUrl
 * @param {() => void} onDone
 */
export function issuedKey({ key }, happened, baseUrl, onDone) {
  const works = make("p", { class: "good", role: "status" });
  const failed = make("div");
  const test = button("Test it", "second", async () => {
    works.textContent = "";
    failed.replaceChildren();
    setBusy(test, true);
    try {
      await tryKey(key);
      works.textContent = "The key works: the service accepted it for a search.";
    } catch (thrown) {
      failed.replaceChildren(alertOf(thrown));
    } finally {
      setBusy(test, false);
    }
  });
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
        value: `curl '${baseUrl}${tryPath}' \\\n  -H 'Authorization: Bearer ${key}'`,
        copy: "Copy command",
      }),
      works,
      failed,
      make("div", { class: "buttons" }, [test, button("Done", "second", onDone)]),
    ],
  );
}
