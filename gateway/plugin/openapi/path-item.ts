// One operation in the document: its parameters, body and responses.
import type { DescField } from "@bufbuild/protobuf";
import { messageName, resultName } from "../names.ts";
import type { Operation } from "../operation.ts";
import type { Options } from "../options.ts";
import { commentText, description } from "./comments.ts";
import { exampleOf, parameterSchema, parameterText, propertySchema } from "./request-schema.ts";
import type { JsonObject } from "./schema.ts";
import { reference } from "./schema.ts";
import { errorName, everyHeader, idempotencyKey, schemeNames } from "./shared.ts";

/** Returns the operation object. */
export function operationObject(operation: Operation, tag: string, options: Options): JsonObject {
  const { rpc, body, credential } = operation;
  const parameters = [
    ...operation.path.map((field) => parameterObject(field, "path", options)),
    ...operation.query.map((field) => parameterObject(field, "query", options)),
    ...(operation.idempotencyKey ? [idempotencyKey] : []),
  ];
  return {
    operationId: rpc.localName,
    tags: [tag],
    ...commentText(rpc),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: body.required, content: json(messageName(rpc.input)) } }),
    responses: {
      [operation.status]: successObject(operation),
      ...errorObjects(operation, options),
      default: errorObject("default", "Any other error."),
    },
    ...(credential === "none" && { security: [] }),
    ...(credential === "session" && { security: [{ [schemeNames.session]: [] }] }),
  };
}

/** Returns the schema of a request body, which rejects unknown properties. */
export function requestBodySchema({ rpc, body }: Operation, options: Options): JsonObject {
  const fields = body?.fields ?? [];
  const required = fields.filter((field) => options.validate(field).required).map(({ name }) => name);
  return {
    type: "object",
    description: description(rpc.input),
    properties: Object.fromEntries(fields.map((field) => [field.name, propertySchema(field, options)])),
    ...(required.length > 0 && { required }),
    ...(body?.mask !== undefined && { minProperties: 1 }),
    additionalProperties: false,
  };
}

function parameterObject(field: DescField, place: "path" | "query", options: Options): JsonObject {
  return {
    name: field.name,
    in: place,
    required: place === "path" || options.validate(field).required,
    description: parameterText(field, options),
    schema: parameterSchema(field, options),
    ...exampleOf(field, options, (example) => ({ example })),
  };
}

function successObject({ rpc, data, location, idempotencyKey }: Operation): JsonObject {
  const more = [...(location === undefined ? [] : ["Location"]), ...(idempotencyKey ? ["Idempotent-Replayed"] : [])];
  return {
    description: description(data ?? rpc.output),
    headers: headerReferences([...everyHeader, ...more]),
    content: json(resultName(rpc)),
  };
}

/** Returns one response for each status of the operation's reasons. Its description joins those of the reasons. */
function errorObjects({ errors }: Operation, options: Options): JsonObject {
  const texts = new Map<number, string[]>();
  for (const number of errors) {
    const reason = options.reason(number);
    if (reason === undefined) throw new Error(`the error ${number} is not a reason with an HTTP status`);
    texts.set(reason.httpStatus, [...(texts.get(reason.httpStatus) ?? []), description(reason.value)]);
  }
  return Object.fromEntries([...texts].map(([status, text]) => [status, errorObject(String(status), text.join(" "))]));
}

function errorObject(status: string, text: string): JsonObject {
  const more = status === "401" ? ["WWW-Authenticate"] : status === "429" ? ["Retry-After"] : [];
  return { description: text, headers: headerReferences([...everyHeader, ...more]), content: json(errorName) };
}

function headerReferences(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, reference("headers", name)]));
}

function json(schemaName: string): JsonObject {
  return { "application/json": { schema: reference("schemas", schemaName) } };
}
