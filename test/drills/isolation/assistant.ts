// Everything that an assistant can request, from the lists of the MCP surface: tools, resources and prompts.
import type { Given, Operation, Where } from "./operations.ts";
import { requiredOf } from "./operations.ts";
import type { User } from "./users.ts";
import type { RawResponse } from "./raw.ts";
import { send } from "./raw.ts";

interface Listed {
  readonly tools: readonly {
    readonly name: string;
    readonly inputSchema: { readonly properties?: object; readonly required?: readonly string[] };
  }[];
  readonly resourceTemplates: readonly { readonly uriTemplate: string }[];
  readonly prompts: readonly {
    readonly name: string;
    readonly arguments?: readonly { readonly name: string; readonly required?: boolean }[];
  }[];
}

/** Lists the operations that a user's assistant sees. */
export async function assistantOperations(where: Where, user: User): Promise<Operation[]> {
  const { tools } = await listed(where, user, "tools/list");
  const { resourceTemplates } = await listed(where, user, "resources/templates/list");
  const { prompts } = await listed(where, user, "prompts/list");
  const read = { wire: "MCP", writes: false, shows: true, idempotent: false } as const;
  return [
    ...tools.map(
      ({ name, inputSchema: { properties = {}, required = [] } }): Operation => ({
        ...read,
        name: `the tool ${name}`,
        fields: Object.keys(properties),
        required: [...new Set([...required, ...requiredOf(camelCase(name))])],
        send: (given, as, headers) => callMethod(where, as, "tools/call", { name, arguments: given }, headers),
      }),
    ),
    ...(resourceTemplates.length === 0
      ? []
      : [
          {
            ...read,
            name: `the resources ${resourceTemplates.map(({ uriTemplate }) => uriTemplate).join(", ")}`,
            fields: ["uri"],
            required: ["uri"],
            send: (given: Given, as: User, headers?: Readonly<Record<string, string>>) =>
              callMethod(where, as, "resources/read", given, headers),
          },
        ]),
    ...prompts.map(
      ({ name, arguments: known = [] }): Operation => ({
        ...read,
        name: `the prompt ${name}`,
        fields: known.map((argument) => argument.name),
        required: known.filter(({ required }) => required === true).map((argument) => argument.name),
        send: (given, as, headers) => callMethod(where, as, "prompts/get", { name, arguments: given }, headers),
      }),
    ),
  ];
}

/** `searchContacts` for `search_contacts`. */
function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function callMethod(
  { base }: Where,
  as: User,
  method: string,
  params: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  const sent = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
    authorization: `Bearer ${as.token}`,
    ...headers,
  };
  return send(base, "POST", "/mcp", sent, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
}

async function listed(where: Where, user: User, method: string): Promise<Listed> {
  const { body } = await callMethod(where, user, method, {});
  const text = body.toString();
  return (JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as { readonly result: Listed }).result;
}
