// The OpenAPI document and the service agree on what is served and what is rejected.
import { resultName } from "../../gateway/plugin/names.ts";
import { create, getOption } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJson } from "../../src/http/json.ts";
import { createRequestReader } from "../../gateway/request.ts";
import { createRenderBody, failureEnvelope } from "../../src/http/response.ts";
import { table } from "../../src/http/route.ts";
import { Failure } from "../../src/call/errors.ts";
import { field as rules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { validate } from "../../src/guards/validate.ts";
import { checkerOf, document, operationOf } from "./document.ts";
import { inForm } from "../support/form.ts";

test.each(table.map((route) => [`${route.method} ${route.template}`, route] as const))(
  "a response of %s, empty or full, conforms to the document [FMT-03]",
  (name, route) => {
    const reference = operationOf(name).responses[route.status]?.content["application/json"]?.schema.$ref;
    const matches = checkerOf(reference);
    for (const full of [false, true]) {
      const body: unknown = JSON.parse(
        createRenderBody("acme")(route.rpc, create(route.rpc.output, sample(route.rpc.output, full))),
      );
      expect(matches(body), JSON.stringify(matches.errors)).toBe(true);
      expect(unknownMembers(body, document.components.schemas[resultName(route.rpc)])).toEqual([]);
    }
  },
);

test("the error envelope, with or without details, conforms to the document [ERR-01, ERR-04]", () => {
  const matches = checkerOf("#/components/schemas/ErrorResult");
  for (const violations of [[], [{ field: "email", rule: "type", message: "must be a string" }]]) {
    expect(matches(JSON.parse(failureEnvelope(new Failure(Reason.INVALID_REQUEST, { violations }))))).toBe(true);
  }
});

describe("rejects a body exactly when the document rejects it", () => {
  const text = fc.constantFrom(
    "",
    "a",
    "😀".repeat(200),
    "x".repeat(201),
    "x".repeat(50),
    "x".repeat(51),
    "x".repeat(10_000),
    "x".repeat(10_001),
    "a@b.c",
    "a@b",
    `${"x".repeat(250)}@b.c`,
    `${"x".repeat(251)}@b.c`,
    "a b@c.d",
    "a@b@c.d",
    "\u0000@b.c",
  );
  const value = fc.oneof(
    { weight: 6, arbitrary: text },
    { weight: 1, arbitrary: fc.constantFrom(null, 0, true, [], {}, ["a"]) },
  );

  test.each(
    table.flatMap((route) => (route.body === undefined ? [] : [[`${route.method} ${route.template}`, route] as const])),
  )("%s [OAS-03, VAL-11]", (name, route) => {
    const matches = checkerOf(operationOf(name).requestBody?.content["application/json"]?.schema.$ref);
    const read = createRequestReader(route);
    const names = [...(route.body?.fields ?? []).map(({ name }) => name), "other"];
    const bodies = fc.dictionary(
      fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names.slice(0, -1)) }, fc.constantFrom("other", "__proto__")),
      value,
      { maxKeys: 3, noNullPrototype: true },
    );
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(bodies, (body) => {
        const reading = readJson(JSON.stringify(body));
        if ("problem" in reading || !(reading.value instanceof Map)) throw new Error("it is an object");
        const { message, violations } = read(["3f2a8c54-0000-4000-8000-000000000001"], "", {
          kind: "object",
          properties: reading.value,
          flaws: reading.flaws,
        });
        const taken = passes(() => validate(route.rpc.input, message, violations));
        seen.add(taken);
        expect(taken).toBe(matches(JSON.parse(JSON.stringify(body))));
      }),
      { numRuns: inForm(100, 500) },
    );
    expect(seen.size).toBe(2);
  });
});

/** The members of a value that its schema, which is open to more, does not name. */
function unknownMembers(value: unknown, schema: Schema | undefined): string[] {
  const named = schema?.$ref ?? schema?.anyOf?.[0]?.$ref;
  if (named !== undefined) return unknownMembers(value, document.components.schemas[named.split("/").at(-1) ?? ""]);
  if (Array.isArray(value)) return value.flatMap((item) => unknownMembers(item, schema?.items));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    schema?.properties?.[name] ? unknownMembers(inner, schema.properties[name]) : [name],
  );
}

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** A message with what must be there, or with everything that may. */
function sample(schema: (typeof table)[number]["rpc"]["output"], full: boolean): Record<string, unknown> {
  const fields = schema.fields.map((field): [string, unknown] => {
    const one =
      field.message?.typeName === TimestampSchema.typeName
        ? instant
        : field.message
          ? sample(field.message, full)
          : field.enum
            ? 1
            : plain(field.name, field.scalar);
    if (field.fieldKind === "list") return [field.localName, full ? [one] : []];
    const may = field.message === undefined ? field.proto.proto3Optional : !getOption(field, rules).required;
    return [field.localName, may && !full ? undefined : one];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

const instant = { seconds: 1_769_851_800n, nanos: 0 };

function plain(name: string, scalar: number | undefined): string | number | boolean {
  if (scalar === 8) return true;
  if (scalar !== 9) return 1;
  return /(^|_)id$/.test(name) ? "3f2a8c54-0000-4000-8000-000000000001" : "x";
}
