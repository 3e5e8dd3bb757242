// Assembles the OpenAPI 3.1 document: one path item for each template, one schema for each message.
import type { DescEnum, DescService } from "@bufbuild/protobuf";
import { messageName, resultName } from "../names.ts";
import type { Operation } from "../operation.ts";
import { naming } from "../operation.ts";
import type { Options } from "../options.ts";
import { responseMessages, restFields } from "../response-field.ts";
import { description } from "./comments.ts";
import { operationObject, requestBodySchema } from "./path-item.ts";
import { bodySchema, messageSchema } from "./response-schema.ts";
import type { JsonObject } from "./schema.ts";
import { enumSchema } from "./schema.ts";
import { errorSchemas, headers, schemeNames, securitySchemes } from "./shared.ts";
import { info } from "./text.ts";

/** Returns the document. Throws an Error that names the rpc if the document cannot describe it. */
export function openApiDocument(operations: readonly Operation[], options: Options): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const schemas: Record<string, JsonObject> = { ...errorSchemas };
  const services = new Set<DescService>();
  for (const operation of operations) {
    const { rpc, template, method } = operation;
    services.add(rpc.parent);
    naming(rpc, () => {
      const path = paths[template] ?? {};
      paths[template] = path;
      path[method.toLowerCase()] = operationObject(operation, tagOf(rpc.parent), options);
      if (operation.body !== undefined) addSchema(messageName(rpc.input), requestBodySchema(operation, options));
      addSchema(resultName(rpc), bodySchema(operation, options));
    });
  }
  for (const message of responseMessages(operations, options))
    addSchema(messageName(message), messageSchema(message, options));
  for (const type of enumsOf(operations, options))
    addSchema(messageName(type), { ...enumSchema(type), description: description(type) });
  const schemes = (["key", "session"] as const).filter((credential) =>
    operations.some((operation) => operation.credential === credential),
  );
  return {
    "x-generated": "by gateway/plugin from the protos, do not edit",
    openapi: "3.1.0",
    info,
    servers: [{ url: "/" }],
    security: [{ [schemeNames.key]: [] }],
    tags: inOrder(services, operations).map((service) => ({ name: tagOf(service), description: description(service) })),
    // The reference shows the operations that need a dashboard session in a group of their own.
    "x-tagGroups": groupsOf(services, operations),
    paths,
    components: {
      schemas,
      headers,
      securitySchemes: Object.fromEntries(
        schemes.map((credential) => [schemeNames[credential], securitySchemes[credential]]),
      ),
    },
  };

  /** Adds a schema. Two operations may share a schema, but not a name for different schemas. */
  function addSchema(name: string, schema: JsonObject): void {
    if (schemas[name] !== undefined && JSON.stringify(schemas[name]) !== JSON.stringify(schema)) {
      throw new Error(`two schemas would be called ${name}`);
    }
    schemas[name] = schema;
  }
}

/**
 * Returns the enums of bodies. Each is a named schema, because generators create a type for every property with an
 * inline enum.
 */
function enumsOf(operations: readonly Operation[], options: Options): ReadonlySet<DescEnum> {
  const fields = [
    ...operations.flatMap(({ rpc, body, beyond }) => [
      ...(body?.fields ?? []),
      ...rpc.output.fields.filter((field) => !beyond.response.includes(field)),
    ]),
    ...responseMessages(operations, options).flatMap((message) => restFields(message, options)),
  ];
  return new Set(fields.flatMap(({ enum: type }) => type ?? []));
}

function groupsOf(services: ReadonlySet<DescService>, operations: readonly Operation[]): JsonObject[] {
  const ofSession = (service: DescService): boolean =>
    operations.some(({ rpc, credential }) => rpc.parent === service && credential === "session");
  const groups: readonly (readonly [string, boolean])[] = [
    ["Records", false],
    ["Dashboard", true],
  ];
  return groups.map(([name, session]) => ({
    name,
    tags: inOrder(services, operations)
      .filter((service) => ofSession(service) === session)
      .map(tagOf),
  }));
}

/** Sorts the services by the credential of their first operation: API key, none, dashboard session. */
function inOrder(services: ReadonlySet<DescService>, operations: readonly Operation[]): DescService[] {
  const rank = (service: DescService): number => {
    const [first] = operations.filter(({ rpc }) => rpc.parent === service).map(({ credential }) => credential);
    return first === undefined ? 0 : ["key", "none", "session"].indexOf(first);
  };
  return [...services].sort((one, other) => rank(one) - rank(other));
}

/** Returns the tag of a service from the name of its file: `records/v1/contacts.proto` → `Contacts`. */
function tagOf({ file }: DescService): string {
  const name = file.name
    .slice(file.name.lastIndexOf("/") + 1)
    .replaceAll("_", " ")
    .replace(/^api\b/, "API");
  return name.charAt(0).toUpperCase() + name.slice(1);
}
