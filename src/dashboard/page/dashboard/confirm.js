// Confirmation dialog for an action that cannot be undone. It also runs the action.
import { alertOf } from "./alert.js";
import { failureOf } from "./api.js";
import { button, isBusy, make, setBusy } from "./elements.js";

/**
 * @typedef {object} Confirmation
 * @property {string} title
 * @property {string} text the consequences
 * @property {HTMLElement} [choice]
 * @property {string} confirm the label of the button that runs the action
 * @property {() => Promise<void>} act
 */

/**
 * Resolves when the dialog is closed and the focus is back on the control that opened it. `uncertain`: the user left
 * after a failure that does not show whether the action was done.
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
      // Browsers do not let a page keep a dialog open for ever. If it closes early, the result must not be lost.
      await running;
      dialog.remove();
      resolve(outcome);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
