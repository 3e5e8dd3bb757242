// The API key panel: shows the key, and creates, rotates and revokes it.
import { accessChoice, nameOf } from "./access.js";
import { alertOf } from "./alert.js";
import { createKey, failureOf, getKey, revokeKey, rotateKey } from "./api.js";
import { confirmAction } from "./confirm.js";
import { button, byId, make, setBusy } from "./elements.js";
import { issuedKey } from "./issued-key.js";
import { timeOf } from "./instant.js";

/** @typedef {import("./api.js").ApiKey} ApiKey */
/** @typedef {import("./api.js").IssuedKey} IssuedKey */

const revokedElsewhere = "The key was revoked in another tab or by someone else.";
const replacedElsewhere =
  "The key was already replaced, in another tab or by someone else. This page shows the first characters of the new key.";
const madeElsewhere =
  "A key was already created, in another tab or by someone else. This page shows its first characters.";
const madeAndLost = "The key was created, but this page did not receive it. Rotate it to get a key that you can use.";
const rotatedAndLost =
  "The key was rotated, but this page did not receive the new key. Rotate it again to get a key that you can use.";

/**
 * @param {HTMLElement} root
 * @param {() => void} onChange called after a change that the audit log reports
 */
export function startKeyPanel(root, onChange) {
  const enrolled = root.dataset["enrolled"] === "true";
  const baseUrl = root.dataset["baseUrl"] ?? "";
  const heading = byId("key-title");
  const notice = make("p", { class: "notice", role: "status" });
  const content = make("div", { id: "key-state" });
  /** The key whose secret is shown instead of everything else. @type {ApiKey | undefined} */
  let justIssued;
  root.replaceChildren(notice, content);

  /** @param {(key: ApiKey | undefined) => string} [noticeFor] returns the notice for the loaded key */
  async function load(noticeFor = () => "") {
    content.replaceChildren(make("p", { class: "loading" }, ["Loading…"]));
    root.setAttribute("aria-busy", "true");
    try {
      const key = await getKey();
      show(key);
      notice.textContent = noticeFor(key);
    } catch (thrown) {
      const again = button("Try again", "second", async () => {
        await load(noticeFor);
        heading.focus();
      });
      content.replaceChildren(alertOf(thrown), again);
    } finally {
      root.removeAttribute("data-loading");
      root.removeAttribute("aria-busy");
    }
  }

  /**
   * Reloads the key after it has changed, or may have changed, outside this page.
   * @param {(key: ApiKey | undefined) => string} noticeFor
   */
  async function loadAgain(noticeFor) {
    await load(noticeFor);
    heading.focus();
    onChange();
  }

  /** @param {ApiKey | undefined} key */
  function show(key) {
    justIssued = undefined;
    content.replaceChildren(key === undefined ? noKey() : presentKey(key));
  }

  function noKey() {
    if (!enrolled) return make("p", { class: "quiet" }, ["This account has no API key."]);
    const choice = accessChoice("create-access", "read_write");
    const failed = make("div");
    const create = button("Create key", "first", async () => {
      failed.replaceChildren();
      notice.textContent = "";
      setBusy(create, true);
      try {
        issue(await createKey(choice.read()), "The key was created.");
      } catch (thrown) {
        const { status, uncertain } = failureOf(thrown);
        if (status === 409) await loadAgain(() => madeElsewhere);
        else if (uncertain && (await getKey().catch(() => undefined)) !== undefined) await loadAgain(() => madeAndLost);
        else failed.replaceChildren(alertOf(thrown));
      } finally {
        setBusy(create, false);
      }
    });
    return make("div", { class: "stack" }, [
      make("h3", {}, ["No API key"]),
      make("p", {}, ["Your scripts and services send the key with every request for the records of this account."]),
      choice.element,
      failed,
      make("div", { class: "buttons" }, [create]),
    ]);
  }

  /** @param {ApiKey} key */
  function presentKey(key) {
    const rotate = enrolled ? button("Rotate", "second", () => confirmRotation(key)) : undefined;
    const revoke = button("Revoke", "danger-second", () => confirmRevocation(key));
    return make("div", { class: "key" }, [
      make("p", { class: "key-name" }, [
        make("code", {}, [key.prefix, make("span", { "aria-hidden": "true" }, ["••••••"])]),
      ]),
      make("dl", {}, [
        fact("Access", nameOf(key.access)),
        fact("Created", timeOf(key.created_at)),
        fact("Last used", key.last_used_at === null ? "Never" : timeOf(key.last_used_at)),
      ]),
      make("div", { class: "buttons" }, [rotate, revoke]),
    ]);
  }

  /** @param {ApiKey} key */
  async function confirmRotation({ id, prefix, access }) {
    const choice = accessChoice("rotate-access", access);
    /** @type {IssuedKey | undefined} */
    let issued;
    const outcome = await confirmAction({
      title: "Rotate the API key?",
      text: `Every tool that uses the key ${prefix}… stops working at once. You get a new key to replace it.`,
      choice: choice.element,
      confirm: "Rotate key",
      act: async () => {
        issued = await unlessGone(rotateKey(id, choice.read()));
      },
    });
    if (issued !== undefined) return issue(issued, "The key was rotated. The old key no longer works.");
    if (outcome === "done") return loadAgain(goneElsewhere);
    if (outcome === "uncertain")
      return loadAgain((key) => (key === undefined ? revokedElsewhere : key.id === id ? "" : rotatedAndLost));
  }

  /** @param {ApiKey} key */
  async function confirmRevocation({ id, prefix }) {
    const revoked = `The key ${prefix}… was revoked.`;
    let found = false;
    const outcome = await confirmAction({
      title: "Revoke the API key?",
      text: `Every tool that uses the key ${prefix}… stops working at once. There is no replacement until you create one.`,
      confirm: "Revoke key",
      act: async () => {
        found = (await unlessGone(revokeKey(id).then(() => true))) ?? false;
      },
    });
    if (outcome === "uncertain") return loadAgain((key) => (key?.id === id ? "" : revoked));
    if (outcome === "left") return;
    if (!found) return loadAgain(goneElsewhere);
    show(undefined);
    notice.textContent = revoked;
    heading.focus();
    onChange();
  }

  /** @param {IssuedKey} issued @param {string} happened */
  function issue(issued, happened) {
    const { id, prefix, access, created_at } = issued;
    justIssued = { id, prefix, access, created_at, last_used_at: null };
    notice.textContent = "";
    const panel = issuedKey(issued, happened, baseUrl, () => {
      forgetSecret();
      heading.focus();
    });
    content.replaceChildren(panel);
    panel.focus();
    onChange();
  }

  function forgetSecret() {
    if (justIssued !== undefined) show(justIssued);
  }

  load();
  return { forgetSecret };
}

/** Returns the notice if the page's key is no longer active. @param {ApiKey | undefined} key the active one */
function goneElsewhere(key) {
  return key === undefined ? revokedElsewhere : replacedElsewhere;
}

/**
 * Resolves with undefined if the key is no longer active, because nothing is left to do then.
 * @template Result
 * @param {Promise<Result>} response
 * @returns {Promise<Result | undefined>}
 */
async function unlessGone(response) {
  try {
    return await response;
  } catch (thrown) {
    if (failureOf(thrown).status === 404) return undefined;
    throw thrown;
  }
}

/** @param {string} name @param {Node | string} value */
function fact(name, value) {
  return make("div", {}, [make("dt", {}, [name]), make("dd", {}, [value])]);
}
