// search: one question over everything, in the shape that general assistants expect; what it finds, `fetch` gets.
import { refuse } from "../errors.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { refuseOthers } from "./tool.ts";

/** Something that was found. */
interface Found {
  readonly id: string;
  readonly title: string;
  readonly url: string;
}

const longest = 100;
const mostResults = 20;

/** Models send sentences: a long one is cut to its first words here, and not refused. */
export const searchTool: Tool = {
  name: "search",
  title: "Search everything",
  description:
    "Find contacts, sessions and notes at once by words, such as a person's name and a topic. Get what it finds with fetch. Few, telling words find most.",
  rest: "Long titles are cut: fetch returns the whole record.",
  empty: () =>
    "Nothing matches. Every word must be the beginning of a word of one record: try the person's name alone, then search_notes with one word of the topic.",
  schemas: () => ({
    input: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 2,
          description:
            "The words to look for; each must be the beginning of a word that is found. A long text is cut to its first words.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: {
        results: {
          type: "array",
          items: {
            type: "object",
            properties: {
              id: { type: "string", description: "To be passed to fetch." },
              title: { type: "string" },
              url: { type: "string", format: "uri" },
            },
            required: ["id", "title", "url"],
          },
        },
      },
      required: ["results"],
    },
  }),
  async run(given, context) {
    refuseOthers(given, ["query"]);
    const { query = null } = given;
    if (query === null) return refuse([{ field: "query", rule: "required", message: "is required" }]);
    if (typeof query !== "string") return refuse([{ field: "query", rule: "type", message: "must be a string" }]);
    const words = firstWords(query);
    if ([...words].length < 2)
      return refuse([{ field: "query", rule: "length", message: "must be at least 2 characters" }]);
    return { results: await searchAll(words, context) };
  },
};

/** As many whole words of a text as 100 characters hold. */
export function firstWords(text: string): string {
  const characters = [...text.trim()];
  if (characters.length <= longest) return characters.join("");
  // One more than fit: where a word ends exactly at the limit, it is whole.
  const cut = characters.slice(0, longest + 1).join("");
  const end = cut.search(/\s\S*$/);
  return end > 0 ? cut.slice(0, end).trimEnd() : characters.slice(0, longest).join("");
}

async function searchAll(query: string, { calls, inbound, baseUrl }: ToolContext): Promise<Found[]> {
  const ask = async (operation: string, given: Record<string, unknown>): Promise<Record<string, unknown>[]> =>
    (await calls.call(operation, given, inbound)).body["data"] as Record<string, unknown>[];
  const [contacts, sessions, notes] = await Promise.all([
    ask("searchContacts", { query }),
    ask("listSessions", { query, limit: 10 }),
    ask("searchNotes", { query, limit: 15 }),
  ]);
  const lists = [
    contacts.map(({ id, full_name, inferred_name, email, phone }) =>
      foundAs("contact", id, full_name ?? inferred_name ?? email ?? phone),
    ),
    sessions.map(({ id, title }) => foundAs("session", id, title)),
    notes.map(({ kind, parent_id, parent_label }) => foundAs(String(kind), parent_id, parent_label)),
  ];
  // By turns, so that many contacts of a name do not keep out what was said.
  const ranks = Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, rank) =>
    lists.flatMap((list) => list[rank] ?? []),
  );
  const found = new Map<string, Found>();
  for (const one of ranks.flat()) if (!found.has(one.id)) found.set(one.id, one);
  return [...found.values()].slice(0, mostResults);

  function foundAs(kind: string, id: unknown, title: unknown): Found {
    return {
      id: `${kind}:${String(id)}`,
      title: typeof title === "string" && title !== "" ? title : `Untitled ${kind}`,
      url: recordUrl(baseUrl, kind, String(id)),
    };
  }
}

/** Where REST has a record. */
export function recordUrl(baseUrl: string, kind: string, id: string): string {
  return `${baseUrl}/v1/${kind}s/${id}`;
}
