// Turns an rpc with google.api.http into an operation for the routing table and the OpenAPI document. Rejects an rpc
// that the gateway cannot serve.
import type { DescField, DescFile, DescMessage, DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import type { Segment } from "../path-template.ts";
import { parseTemplate, templateShape } from "../path-template.ts";
import type { HttpRule, Options } from "./options.ts";
import { checkRequestField } from "./request-field.ts";

/** A REST operation, with its fields sorted by their place in the request and the response. */
export interface Operation {
  readonly rpc: DescMethodUnary;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly template: string;
  readonly path: readonly DescField[];
  readonly query: readonly DescField[];
  /** Undefined if the operation reads no body. */
  readonly body:
    | { readonly fields: readonly DescField[]; readonly mask: DescField | undefined; readonly required: boolean }
    | undefined;
  /** The response field whose content is `data`; undefined if the whole response is. */
  readonly data: DescField | undefined;
  /** The response fields next to `data`. */
  readonly siblings: readonly DescField[];
  /** The fields of the request and of the response that REST does not have. */
  readonly beyond: { readonly request: readonly DescField[]; readonly response: readonly DescField[] };
  readonly status: number;
  readonly location: readonly Segment[] | undefined;
  readonly credential: "key" | "none" | "session";
  readonly idempotencyKey: boolean;
  /** The numbers of the documented reasons for which it fails. */
  readonly errors: readonly number[];
}

const methods = { get: "GET", post: "POST", put: "PUT", patch: "PATCH", delete: "DELETE" } as const;
const credentials = ["key", "none", "session"] as const;

/**
 * Returns the operations of the files' services, sorted by file name. Throws an Error that names the rpc if the gateway
 * cannot serve it.
 */
export function findOperations(files: readonly DescFile[], options: Options): readonly Operation[] {
  const operations: Operation[] = [];
  const taken = new Map<string, DescMethod>();
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const rpc of sorted.flatMap((file) => file.services).flatMap((service) => service.methods)) {
    const http = options.http(rpc);
    if (http === undefined) continue;
    naming(rpc, () => {
      const operation = createOperation(rpc, http, options);
      const key = `${operation.method} ${templateShape(parseTemplate(operation.template))}`;
      const other = taken.get(key);
      if (other !== undefined) throw new Error(`the route ${key} is that of ${nameOf(other)} already`);
      taken.set(key, rpc);
      operations.push(operation);
    });
  }
  return operations;
}

/** Runs `make`, and adds the name of the rpc to the message of any error. */
export function naming<Result>(rpc: DescMethod, make: () => Result): Result {
  try {
    return make();
  } catch (error) {
    throw new Error(`${nameOf(rpc)}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function nameOf(rpc: DescMethod): string {
  return `${rpc.parent.typeName}.${rpc.name}`;
}

function createOperation(rpc: DescMethod, http: HttpRule, options: Options): Operation {
  if (!isUnary(rpc)) throw new Error("a streaming rpc cannot have a REST route");
  if (http.additionalBindings.length > 0) throw new Error("additional_bindings are not supported");
  const verb = http.pattern.case;
  const template = http.pattern.value;
  if (!isVerb(verb) || typeof template !== "string")
    throw new Error(`google.api.http needs one of ${Object.keys(methods).join(", ")}`);
  if (http.body !== "" && http.body !== "*") throw new Error(`the body must be "*" or left out, not "${http.body}"`);
  if (http.body === "*" && (verb === "get" || verb === "delete"))
    throw new Error(`${methods[verb]} cannot have a body`);
  const rules = options.method(rpc);
  const data = http.responseBody === "" ? undefined : fieldOf(rpc.output, http.responseBody, "response_body");
  const others = data === undefined ? [] : rpc.output.fields.filter((field) => field !== data);
  return {
    rpc,
    method: methods[verb],
    template,
    ...sortRequest(rpc.input, parseTemplate(template), http.body === "*", options),
    data,
    siblings: others.filter((field) => !isBeyondRest(field, options)),
    beyond: {
      request: rpc.input.fields.filter((field) => isBeyondRest(field, options)),
      response: others.filter((field) => isBeyondRest(field, options)),
    },
    status: rules?.successStatus || 200,
    location:
      rules === undefined || rules.location === ""
        ? undefined
        : checkLocation(rpc.output, parseTemplate(rules.location)),
    credential: credentials[rules?.credential ?? 0] ?? "key",
    idempotencyKey: rules?.idempotencyKey ?? false,
    errors: rules?.errors ?? [],
  };
}

function sortRequest(
  input: DescMessage,
  segments: readonly Segment[],
  hasBody: boolean,
  options: Options,
): Pick<Operation, "path" | "query" | "body"> {
  const path = segments.flatMap((segment) =>
    "parameter" in segment ? [fieldOf(input, segment.parameter, "the path")] : [],
  );
  const mask = hasBody ? input.fields.find((field) => field.message?.typeName === FieldMaskSchema.typeName) : undefined;
  const beyond = input.fields.filter((field) => isBeyondRest(field, options));
  if (hasBody && beyond.length > 0) throw new Error("a request with a body cannot have fields beyond REST");
  const rest = input.fields.filter((field) => !path.includes(field) && field !== mask && !beyond.includes(field));
  for (const field of [...path, ...rest, ...beyond]) checkRequestField(field, options);
  for (const field of path)
    if (field.scalar === undefined) throw new Error(`the path parameter ${field.name} must be a scalar`);
  if (!hasBody) return { path, query: rest, body: undefined };
  const required = mask !== undefined || rest.some((field) => options.validate(field).required);
  return { path, query: [], body: { fields: rest, mask, required } };
}

function isBeyondRest(field: DescField, options: Options): boolean {
  return options.field(field)?.beyondRest === true;
}

function checkLocation(output: DescMessage, segments: readonly Segment[]): readonly Segment[] {
  for (const segment of segments) {
    if (!("parameter" in segment)) continue;
    let message: DescMessage | undefined = output;
    for (const name of segment.parameter.split(".")) {
      if (message === undefined)
        throw new Error(`the location {${segment.parameter}} goes through a field that is not a message`);
      message = fieldOf(message, name, "the location").message;
    }
    if (message !== undefined) throw new Error(`the location {${segment.parameter}} is a message`);
  }
  return segments;
}

function fieldOf(message: DescMessage, name: string, where: string): DescField {
  const field = message.fields.find((field) => field.name === name);
  if (field === undefined) throw new Error(`${where} names "${name}", which is not a field of ${message.typeName}`);
  return field;
}

function isUnary(rpc: DescMethod): rpc is DescMethodUnary {
  return rpc.methodKind === "unary";
}

function isVerb(name: string | undefined): name is keyof typeof methods {
  return name !== undefined && Object.hasOwn(methods, name);
}
