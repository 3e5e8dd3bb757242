// Makes the request message of an rpc out of path, query and body, and finds everything that is wrong with them.
import type { Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import type { Violation } from "../src/errors.ts";
import { mostViolations } from "../src/errors.ts";
import type { Body } from "./body.ts";
import type { Flaw, Json } from "./json.ts";
import { decodePercent } from "./percent.ts";
import { readQuery } from "./query.ts";
import type { RequestBody, RequestField, Route } from "./route.ts";
import type { Scalar } from "./scalar.ts";
import { readText, readValue } from "./scalar.ts";
import { shownName } from "./shown-name.ts";

/** The message, as far as it could be read, and what stood against the rest. */
export interface RequestReading {
  readonly message: Message;
  readonly violations: readonly Violation[];
}

/** Reads the requests of one route; what can be prepared is prepared once. */
export type RequestReader = (captured: readonly string[], query: string, body: Body | undefined) => RequestReading;

type Fields = Record<string, Scalar | Message>;

/** The reader of a route's requests. A field that has a violation stays unset. */
export function createRequestReader(route: Route): RequestReader {
  const queryNames = new Set(route.query.map(({ name }) => name));
  // A request that takes nothing cannot be wrong: health is 200 or 429 (contract §2.13).
  const takesNothing = route.rpc.input.fields.length === 0;
  const body = route.body;
  const properties = new Map(body?.fields.map((field) => [field.name, field]));
  const propertyNames = [...properties.keys()].join(", ");

  return (captured, query, received) => {
    const violations: Violation[] = [];
    const message = create(route.rpc.input);
    const fields = message as Message & Fields;
    for (const [index, field] of route.path.entries()) {
      const text = decodePercent(captured[index] ?? "");
      if (text === undefined)
        violations.push({ field: field.name, rule: "encoding", message: "must be percent-encoded UTF-8" });
      else set(fields, field, readText(field, text, violations));
    }
    if (!takesNothing) readParameters(fields, query, violations);
    if (body !== undefined && received?.kind === "object")
      readProperties(fields, body, received.properties, received.flaws, violations);
    else if (received !== undefined && "violation" in received) violations.push(received.violation);
    return { message, violations: violations.slice(0, mostViolations) };
  };

  function readParameters(fields: Fields, query: string, violations: Violation[]): void {
    const values = readQuery(query, queryNames, violations);
    for (const field of route.query) {
      const text = values.get(field.name);
      if (text !== undefined) set(fields, field, readText(field, text, violations));
      else if (field.required && !violations.some((violation) => violation.field === field.name))
        violations.push(missing(field));
    }
  }

  function readProperties(
    fields: Fields,
    body: RequestBody,
    given: ReadonlyMap<string, Json>,
    flaws: readonly Flaw[],
    violations: Violation[],
  ): void {
    const flawed = new Set<string>();
    for (const { path, kind } of flaws) {
      flawed.add(path);
      violations.push({
        field: shownName(path),
        rule: kind,
        message: kind === "duplicate" ? "must not be given more than once" : "must not hold a lone surrogate",
      });
    }
    for (const [name, value] of given) {
      const field = properties.get(name);
      if (field === undefined) {
        violations.push({
          field: shownName(name),
          rule: "unknown_property",
          message: `is none of the properties ${propertyNames}`,
        });
      } else if (flawed.has(name)) {
      } else if (value !== null) {
        set(fields, field, readValue(field, value, violations));
      } else if (!field.nullable) {
        violations.push({ field: name, rule: "not_null", message: "must not be null" });
      }
    }
    for (const field of body.fields) if (field.required && !given.has(field.name)) violations.push(missing(field));
    if (body.mask === undefined) return;
    if (given.size === 0)
      violations.push({
        field: "",
        rule: "min_properties",
        message: `the body must have at least one property: ${propertyNames}`,
      });
    fields[body.mask] = create(FieldMaskSchema, { paths: [...given.keys()].filter((name) => properties.has(name)) });
  }
}

function set(fields: Fields, field: RequestField, value: Scalar | undefined): void {
  if (value !== undefined) fields[field.local] = value;
}

function missing(field: RequestField): Violation {
  return { field: field.name, rule: "required", message: "is required" };
}
