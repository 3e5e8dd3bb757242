// The activity of the account, page by page.
import { alertOf } from "./alert.js";
import { listEntries } from "./api.js";
import { button, make, setBusy } from "./elements.js";
import { exactly, timeOf } from "./moment.js";

/** @typedef {import("./api.js").Entry} Entry */

/** @type {Readonly<Record<string, { words: string, look: "calm" | "new" | "ended" }>>} */
const events = {
  signed_in: { words: "Signed in", look: "calm" },
  signed_out: { words: "Signed out", look: "calm" },
  key_created: { words: "API key created", look: "new" },
  key_rotated: { words: "API key rotated", look: "new" },
  key_revoked: { words: "API key revoked", look: "ended" },
  key_refused: { words: "Change to the API key refused", look: "ended" },
  account_suspended: { words: "Account suspended", look: "ended" },
  account_resumed: { words: "Account resumed", look: "new" },
  sessions_ended: { words: "All sessions ended", look: "ended" },
  tool_called: { words: "An assistant read", look: "calm" },
  records_exported: { words: "Records exported", look: "calm" },
  other: { words: "Another event", look: "calm" },
};

/** @param {HTMLElement} root */
export function startAuditLog(root) {
  const list = make("ol", { class: "log", role: "list" });
  const state = make("div", { class: "log-state" });
  const said = make("p", { class: "unseen", role: "status" });
  const more = button("Show more", "second", showMore);
  root.replaceChildren(list, state, said);
  /** @type {number | null} */
  let next = null;
  // The log grows at its head, so that the next page can begin with what is shown already.
  /** @type {Set<string>} */
  let shown = new Set();
  // What was asked for before the log began again belongs to another list.
  let beginnings = 0;

  /** Begins again at the newest. What is shown stays until the answer is there. */
  async function load() {
    if (list.childElementCount === 0) state.replaceChildren(make("p", { class: "loading" }, ["Loading…"]));
    const beginning = ++beginnings;
    try {
      const page = await listEntries(0);
      if (beginning !== beginnings) return;
      list.replaceChildren();
      shown = new Set();
      add(page);
      if (page.data.length === 0) state.replaceChildren(make("p", { class: "quiet" }, ["Nothing has happened yet."]));
    } catch (thrown) {
      state.replaceChildren(alertOf(thrown), button("Try again", "second", load));
    }
  }

  async function showMore() {
    if (next === null) return;
    setBusy(more, true);
    const beginning = beginnings;
    try {
      const page = await listEntries(next);
      if (beginning !== beginnings) return;
      const [first, count] = add(page);
      said.textContent = count === 1 ? "One more entry is shown." : `${count} more entries are shown.`;
      // With the button gone the focus would be lost.
      if (next === null) first?.focus();
    } catch (thrown) {
      state.replaceChildren(alertOf(thrown), more);
    } finally {
      setBusy(more, false);
    }
  }

  /**
   * @param {import("./api.js").EntryPage} page
   * @returns {[first: HTMLElement | undefined, count: number]}
   */
  function add({ data, pagination }) {
    const items = data.filter(({ id }) => !shown.has(id)).map((entry) => item(entry));
    for (const { id } of data) shown.add(id);
    list.append(...items);
    next = pagination.has_more ? pagination.next_offset : null;
    if (next === null) state.replaceChildren();
    else if (!state.contains(more) || state.childElementCount > 1) state.replaceChildren(more);
    return [items[0], items.length];
  }

  load();
  return { reload: load };
}

/** @param {Entry} entry */
function item({ created_at, event, detail, key_prefix, person, request_id, address }) {
  const { words, look } = (Object.hasOwn(events, event) ? events[event] : undefined) ?? { words: event, look: "calm" };
  return make("li", { class: `entry ${look}`, tabindex: "-1" }, [
    make("div", { class: "entry-head" }, [
      make("p", { class: "entry-what" }, [
        words,
        key_prefix === null ? undefined : " ",
        key_prefix === null ? undefined : make("code", {}, [`${key_prefix}…`]),
      ]),
      make("p", { class: "entry-when" }, [timeOf(created_at)]),
    ]),
    detail === null ? undefined : make("p", { class: "entry-detail" }, [detail]),
    make("p", { class: "entry-who" }, [
      person === null ? "From " : `${person}, from `,
      make("span", { class: "address" }, [address]),
    ]),
    make("p", { class: "small" }, [exactly(created_at), " · request ", make("code", {}, [request_id])]),
  ]);
}
