// MCP server that validates params itself: the library's validator would return its raw expectations, as an internal
// error.
import type { JSONRPCRequest, Result, ServerContext } from "@modelcontextprotocol/server";
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;
type Members = Readonly<Record<string, unknown>>;

/** A member of the params, its reader, and the message for a value of which the reader returns nothing. */
type Rule = readonly [member: string, read: (value: unknown) => unknown, message: string];

const isText = (value: unknown): boolean => typeof value === "string";
const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textsOf = (value: unknown, ...names: readonly string[]): Members | undefined =>
  isObject(value) && names.every((name) => isText(value[name]))
    ? Object.fromEntries(names.map((name) => [name, value[name]]))
    : undefined;
function referenceOf(value: unknown): Members | undefined {
  const type = isObject(value) ? value["type"] : undefined;
  if (type === "ref/prompt") return textsOf(value, "type", "name");
  return type === "ref/resource" ? textsOf(value, "type", "uri") : undefined;
}

const text = (member: string): Rule => [member, (value) => (isText(value) ? value : undefined), "must be a string"];
/** A cursor that we did not issue is invalid (MCP, Pagination), and every list is one page. */
const noCursor: Rule = [
  "cursor",
  (value = "") => (value === "" ? value : undefined),
  "is not valid: the list is one page",
];
const rules: ReadonlyMap<string, readonly Rule[]> = new Map([
  ["tools/list", [noCursor]],
  ["prompts/list", [noCursor]],
  ["resources/list", [noCursor]],
  ["resources/templates/list", [noCursor]],
  [
    "initialize",
    [
      text("protocolVersion"),
      ["capabilities", (value) => (isObject(value) ? {} : undefined), "must be an object"],
      [
        "clientInfo",
        (value) => textsOf(value, "name", "version"),
        "must be an object with the strings name and version",
      ],
    ],
  ],
  [
    "tools/call",
    [text("name"), ["arguments", (value = {}) => (isObject(value) ? value : undefined), "must be an object"]],
  ],
  [
    "prompts/get",
    [
      text("name"),
      [
        "arguments",
        (value = {}) => (isObject(value) && Object.values(value).every(isText) ? value : undefined),
        "must be an object whose values are strings",
      ],
    ],
  ],
  ["resources/read", [text("uri")]],
  [
    "completion/complete",
    [
      ["ref", referenceOf, 'must be {"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": …}'],
      ["argument", (value) => textsOf(value, "name", "value"), "must be an object with the strings name and value"],
    ],
  ],
]);

/**
 * Returns the members of the params that the method has. Fails with InvalidParams, and names each one that has the wrong
 * form.
 */
export function readParams(method: string, params: Members | undefined): Members {
  const read = (rules.get(method) ?? []).map(
    ([member, read, message]) => [member, read(params?.[member]), message] as const,
  );
  const flaws = read.filter(([, value]) => value === undefined);
  if (flaws.length > 0) {
    const message = flaws.map(([member, , must]) => `${member}: ${must}`).join("; ");
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  return Object.fromEntries(read);
}

/** Gives the library's validator only members that are valid. It would also check those that nothing reads. */
export class CheckedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const validated = super._wrapHandler(method, handler);
    return (request, context) => validated({ ...request, params: readParams(method, request.params) }, context);
  }
}
