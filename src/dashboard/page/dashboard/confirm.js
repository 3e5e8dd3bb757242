// Confirmation dialog before something that cannot be undone, which it then does.
import { alertOf } from "./alert.js";
import { failureOf } from "./api.js";
import { button, isBusy, make, setBusy } from "./elements.js";

/**
 * @typedef {object} Confirmation
 * @property {string} title
 * @property {string} text what will break
 * @property {HTMLElement} [choice]
 * @property {string} confirm the name of the button that does it
 * @property {() => Promise<void>} act
 */

/**
 * Resolves when the dialog is closed; focus is back where it came from by then. `uncertain`: it was left after a
 * failure that does not show whether it was done.
 * @param {Confirmation} confirmation
 * @returns {Promise<"done" | "left" | "uncertain">}
 */
export function confirmAction({ title, text, choice, confirm, act }) {
  const failed = make("div");
  const cancel = button("Cancel", "second", () => dialog.close());
  cancel.autofocus = true;
  const go = button(confirm, "danger", () => {
    running = attempt();
  });
  const dialog = make("dialog", { "aria-labelledby": "question-title", "aria-describedby": "question-text" }, [
    make("h2", { id: "question-title" }, [title]),
    make("p", { id: "question-text" }, [text]),
    choice,
    failed,
    make("div", { class: "buttons" }, [cancel, go]),
  ]);
  let running = Promise.resolve();
  /** @type {"done" | "left" | "uncertain"} */
  let outcome = "left";

  async function attempt() {
    failed.replaceChildren();
    setBusy(go, true);
    setBusy(cancel, true);
    try {
      await act();
      outcome = "done";
      dialog.close();
    } catch (thrown) {
      if (failureOf(thrown).uncertain) outcome = "uncertain";
      failed.replaceChildren(
        alertOf(
          thrown,
          outcome === "uncertain" ? "The change may have been made anyway. Close this dialog to check." : undefined,
        ),
      );
    } finally {
      setBusy(go, false);
      setBusy(cancel, false);
    }
  }

  return new Promise((resolve) => {
    dialog.addEventListener("cancel", (event) => isBusy(go) && event.preventDefault());
    dialog.addEventListener("close", async () => {
      // A browser does not let a page hold a dialog open for ever: what comes of it must not be lost then.
      await running;
      dialog.remove();
      resolve(outcome);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
