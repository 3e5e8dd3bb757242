// MCP server that validates params itself: the library's validator would return its raw expectations, as an internal
// error.
import type { JSONRPCRequest, Result, ServerContext } from "@modelcontextprotocol/server";
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;
type Members = Readonly<Record<string, unknown>>;

/** A member of the params, the check of its value, and the message if the check fails. */
type Rule = readonly [member: string, holds: (value: unknown) => boolean, message: string];

const isText = (value: unknown): boolean => typeof value === "string";
const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasTexts =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    isObject(value) && names.every((name) => isText(value[name]));
const isReference = (value: unknown): boolean =>
  isObject(value) &&
  ((value["type"] === "ref/prompt" && isText(value["name"])) ||
    (value["type"] === "ref/resource" && isText(value["uri"])));

const text = (member: string): Rule => [member, isText, "must be a string"];
/** A cursor that we did not issue is invalid (MCP, Pagination), and every list is one page. */
const noCursor: Rule = [
  "cursor",
  (value) => value === undefined || value === "" || !isText(value),
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
      ["capabilities", isObject, "must be an object"],
      ["clientInfo", hasTexts("name", "version"), "must be an object with the strings name and version"],
    ],
  ],
  ["tools/call", [text("name"), ["arguments", (value) => value === undefined || isObject(value), "must be an object"]]],
  [
    "prompts/get",
    [
      text("name"),
      [
        "arguments",
        (value) => value === undefined || (isObject(value) && Object.values(value).every(isText)),
        "must be an object whose values are strings",
      ],
    ],
  ],
  ["resources/read", [text("uri")]],
  [
    "completion/complete",
    [
      ["ref", isReference, 'must be {"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": …}'],
      ["argument", hasTexts("name", "value"), "must be an object with the strings name and value"],
    ],
  ],
]);

/** Fails with InvalidParams, and names each member of the params that has the wrong form. */
export function requireParams(method: string, params: Members | undefined): void {
  const flaws = (rules.get(method) ?? []).filter(([member, holds]) => !holds(params?.[member]));
  if (flaws.length > 0) throw invalid(flaws.map(([member, , message]) => `${member}: ${message}`).join("; "));
}

/** Passes on errors that are not the validator's. */
export class CheckedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const validated = super._wrapHandler(method, handler);
    return async (request, context) => {
      requireParams(method, request.params);
      try {
        return await validated(request, context);
      } catch (error) {
        if (!isOfValidator(error)) throw error;
        throw invalid(`The params of ${method} must have the form that the protocol gives them.`);
      }
    };
  }
}

/** The library's validator throws a plain Error. */
function isOfValidator(error: unknown): boolean {
  return error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
