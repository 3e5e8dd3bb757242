// Shows the activity of the account, page by page.
import { alertOf } from "./alert.js";
import { listEntries } from "./api.js";
import { button, make, setBusy } from "./elements.js";
import { exactly, timeOf } from "./instant.js";

/** @typedef {import("./api.js").Entry} Entry */

/** @type {Readonly<Record<string, { words: string, look: "calm" | "new" | "ended" }>>} */
const events = {
  signed_in: { words: "Signed in", look: "calm" },
  signed_out: { words: "Signed out", look: "calm" },
  key_created: { words: "API key created", look: "new" },
  key_rotated: { words: "API key rotated", look: "new" },
  key_revoked: { words: "API key revoked", look: "ended" },
  key_refused: { words: "Change to the API key rejected", look: "ended" },
  account_suspended: { words: "Account suspended", look: "ended" },
  account_resumed: { words: "Account resumed", look: "new" },
  identity_linked: { words: "User linked to the account", look: "new" },
  enrolment_changed: { words: "Beta enrolment changed", look: "calm" },
  sessions_ended: { words: "All sessions ended", look: "ended" },
  tool_called: { words: "An assistant read records", look: "calm" },
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
  // The log grows at its head, so the next page can start with entries that are already shown.
  /** @type {Set<string>} */
  let shown = new Set();
  // A response that was requested before the log was reloaded belongs to another list.
  let beginnings = 0;

  /** Reloads the log from the newest entry. The old entries are shown until the response arrives. */
  async function load() {
    if (list.childElementCount === 0) state.replaceChildren(make("p", { class: "loading" }, ["Loading…"]));
    const beginning = ++beginnings;
    try {
      const page = await listEntries(0);
      if (beginning !== beginnings) return;
      list.replaceChildren();
      shown = new Set();
      add(page);
      if (page.data.length === 0) state.replaceChildren(make("p", { class: "quiet" }, ["No activity yet."]));
    } catch (thrown) {
      if (beginning !== beginnings) return;
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
      // The button has disappeared, and the focus would be lost with it.
      if (next === null) first?.focus();
    } catch (thrown) {
      if (beginning !== beginnings) return;
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
    const items = rowsOf(data.filter(({ id }) => !shown.has(id)));
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

/** The reads of an assistant, by the detail of the entry. @type {Readonly<Record<string, string>>} */
const reads = {
  search_contacts: "searched contacts",
  get_contact: "read a contact",
  list_sessions: "listed sessions",
  get_session: "read a session",
  get_session_transcript: "read a transcript",
  search_transcripts: "searched transcripts",
  whoami: "asked who you are",
  search_notes: "searched notes",
  search: "searched",
  fetch: "read a record",
  resources: "listed contacts and sessions",
  "resource contact": "read a contact",
  "resource session": "read a session",
  "prompt prepare_meeting": "prepared a meeting",
  "prompt follow_up": "prepared a follow-up",
  "prompt catch_up": "searched notes",
  completion: "searched names and titles",
};

/** @param {string | null} detail */
function readingOf(detail) {
  return (detail !== null && Object.hasOwn(reads, detail) ? reads[detail] : undefined) ?? "read records";
}

/** The events that are frequent and alike. @type {Readonly<Record<string, string>>} */
const kinds = { tool_called: "reads", signed_in: "sign-ins", signed_out: "sign-ins" };

/**
 * Returns a row for each entry, and one row for consecutive sign-ins and sign-outs of the same user, or reads by their
 * assistants.
 * @param {readonly Entry[]} entries
 */
function rowsOf(entries) {
  /** @type {Entry[][]} */
  const groups = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    const isSame = kinds[entry.event] !== undefined && kinds[entry.event] === kinds[first?.event ?? ""];
    if (isSame && entry.person === first?.person) group?.push(entry);
    else groups.push([entry]);
  }
  return groups.map(row);
}

/** @param {Entry[]} group of one entry, or of several of a kind */
function row(group) {
  const [{ created_at, event, detail, key_prefix, person }] = /** @type {[Entry]} */ (group);
  const { words, look } = (Object.hasOwn(events, event) ? events[event] : undefined) ?? { words: event, look: "calm" };
  const done = [...new Set(group.map((one) => readingOf(one.detail)))];
  const isMixed = group.some((one) => one.event !== event);
  const what =
    event === "tool_called"
      ? `An assistant ${done.slice(0, 3).join(", ")}${done.length > 3 ? " and more" : ""}`
      : isMixed
        ? "Signed in and out"
        : words;
  return make("li", { class: `entry ${look}`, tabindex: "-1" }, [
    make("details", {}, [
      make("summary", {}, [
        make("span", { class: "entry-what" }, [
          what,
          group.length === 1 ? undefined : make("span", { class: "entry-count" }, [` ${group.length} times`]),
          key_prefix === null ? undefined : " ",
          key_prefix === null ? undefined : make("code", {}, [`${key_prefix}…`]),
        ]),
        make("span", { class: "entry-who" }, [person ?? ""]),
        make("span", { class: "entry-when" }, [timeOf(created_at)]),
      ]),
      event === "tool_called" || group.length > 1 || detail === null
        ? undefined
        : make("p", { class: "entry-detail" }, [detail]),
      ...group.map((one) => factsOf(one, isMixed)),
    ]),
  ]);
}

/** @param {Entry} entry @param {boolean} isMixed whether its row has different events */
function factsOf({ created_at, event, detail, request_id, address }, isMixed) {
  return make("p", { class: "small" }, [
    exactly(created_at),
    isMixed ? ` · ${events[event]?.words ?? event}` : undefined,
    event === "tool_called" && detail !== null ? ` · ${detail}` : undefined,
    " · from ",
    make("span", { class: "address" }, [address]),
    " · request ",
    make("code", {}, [request_id]),
  ]);
}
