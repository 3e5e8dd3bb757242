// Emits src/gen/rest.ts: the routing table as typed data, then the writers.
import type { GeneratedFile, Printable } from "@bufbuild/protoplugin";
import type { Segment } from "../path-template.ts";
import { parameterSchemas } from "./openapi/request-schema.ts";
import { fieldSchemas } from "./openapi/response-schema.ts";
import type { Operation } from "./operation.ts";
import { naming } from "./operation.ts";
import type { Options } from "./options.ts";
import { printRequestField } from "./request-field.ts";
import { beyondWriter, bodyWriter, printWriters } from "./writers.ts";

/** Emits the table, one row for each operation, in the order of the protos. */
export function printTable(f: GeneratedFile, operations: readonly Operation[], options: Options): void {
  f.print("/** One row for each rpc with google.api.http; src/http/route.ts says what its members mean. */");
  f.print("export const routes = [");
  for (const operation of operations) naming(operation.rpc, () => printRow(f, operation, options));
  f.print("] as const;");
  f.print();
  printWriters(f, operations, options);
}

function printRow(f: GeneratedFile, operation: Operation, options: Options): void {
  const { rpc, body, location } = operation;
  const list = (fields: Operation["path"]): string => {
    if (fields.length === 0) return "[]";
    return `[\n${fields.map((field) => `      ${printRequestField(field, options)},\n`).join("")}    ]`;
  };
  f.print("  {");
  f.print("    method: ", f.string(operation.method), ",");
  f.print("    template: ", f.string(operation.template), ",");
  f.print("    rpc: ", f.importSchema(rpc.parent), ".method.", rpc.localName, ",");
  f.print("    credential: ", f.string(operation.credential), ",");
  f.print("    idempotencyKey: ", operation.idempotencyKey, ",");
  f.print("    path: ", list(operation.path), ",");
  f.print("    query: ", list(operation.query), ",");
  if (body === undefined) f.print("    body: undefined,");
  else {
    const mask = body.mask === undefined ? "" : `, mask: ${JSON.stringify(body.mask.localName)}`;
    f.print("    body: { required: ", body.required, mask, ", fields: ", list(body.fields), " },");
  }
  f.print("    status: ", operation.status, ",");
  if (location !== undefined)
    f.print("    location: (m: ", f.importShape(rpc.output), ") => ", printLocation(location, operation), ",");
  f.print("    write: ", bodyWriter(f, operation, options), ",");
  if (operation.beyond.request.length > 0) {
    f.print("    beyond: {");
    f.print("      fields: ", list(operation.beyond.request), ",");
    f.print("      parameters: ", JSON.stringify(parameterSchemas(operation.beyond.request, options)), ",");
    f.print("      response: ", JSON.stringify(fieldSchemas(operation.beyond.response, options)), ",");
    f.print("      write: ", beyondWriter(f, operation, options), ",");
    f.print("    },");
  }
  f.print("  },");
}

function printLocation(segments: readonly Segment[], { rpc }: Operation): Printable {
  const parts = segments.map((segment) => {
    if ("literal" in segment) return `/${segment.literal}`;
    let message: typeof rpc.output | undefined = rpc.output;
    let expression = "m";
    for (const name of segment.parameter.split(".")) {
      const field: (typeof rpc.output.fields)[number] | undefined = message?.fields.find(
        (field) => field.name === name,
      );
      expression = `${expression}.${field?.localName}`;
      if (field?.message !== undefined) expression = `(${expression} ?? unset("${field.parent.name}.${name}"))`;
      message = field?.message;
    }
    return `/\${${expression}}`;
  });
  return `\`${parts.join("")}\``;
}
