// Reads path, query and body into the request message of an rpc, and collects all violations.
import type { Message } from "@bufbuild/protobuf";
import { create, getOption } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import type { Violation } from "../src/call/errors.ts";
import { Credential, method as methodOption } from "../src/gen/records/v1/options_pb.ts";
import type { Body } from "../src/http/body.ts";
import type { Flaw, Json } from "../src/http/json.ts";
import { decodePercent } from "../src/http/percent.ts";
import { readQuery } from "../src/http/query.ts";
import type { RequestBody, RequestField, Route } from "../src/http/route.ts";
import type { Fields, RequestReading } from "../src/http/scalar.ts";
import { missing, readText, readValue, set } from "../src/http/scalar.ts";
import { echoedName } from "../src/http/echoed-name.ts";
import type { UnknownNames } from "../src/http/unknown-names.ts";
import { collectUnknown } from "../src/http/unknown-names.ts";

/** Reads a request of one route. `captured` contains the raw path parameters in the order of the template. */
export type RequestReader = (captured: readonly string[], query: string, body: Body | undefined) => RequestReading;

/** Creates the reader of a route's requests. The reader leaves a field with a violation unset. */
export function createRequestReader(route: Route): RequestReader {
  const queryNames = new Set(route.query.map(({ name }) => name));
  // A request that needs no credential cannot be invalid: health returns 200 or 429 (contract §2.13).
  const takesAnything = getOption(route.rpc, methodOption).credential === Credential.NONE;
  const readProperties = route.body && createPropertyReader(route.body);

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
    if (!takesAnything) readParameters(fields, query, violations);
    if (received?.kind === "object") readProperties?.(fields, received, violations);
    else if (received !== undefined && "violation" in received) violations.push(received.violation);
    return { message, violations };
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
}

/** Reads the properties of a body into a message. */
type PropertyReader = (fields: Fields, given: Extract<Body, { kind: "object" }>, violations: Violation[]) => void;

function createPropertyReader(body: RequestBody): PropertyReader {
  const known = new Map(body.fields.map((field) => [field.name, field]));
  const names = [...known.keys()].join(", ");
  const choice = names.replace(/, (?=[^,]*$)/, " or ");

  function readProperty(field: RequestField, value: Json, fields: Fields, violations: Violation[]): void {
    if (value !== null) {
      const read = readValue(field, value, violations);
      if (read !== undefined) fields[field.local] = read;
    } else if (!field.nullable) {
      violations.push({ field: field.name, rule: "not_null", message: "must not be null" });
    }
  }

  function unknownProperty(name: string): Violation {
    const message = `is not a known property. Use ${choice}`;
    return { field: echoedName(name), rule: "unknown_property", message };
  }

  /** Adds a violation for each kind of flaw of a property. Returns the flaws by name. */
  function addFlaws(
    flaws: readonly Flaw[],
    violations: Violation[],
    unknown: UnknownNames,
  ): ReadonlyMap<string, ReadonlySet<Flaw["kind"]>> {
    const flawed = new Map<string, Set<Flaw["kind"]>>();
    for (const flaw of flaws) {
      const { path, kind } = flaw;
      const kinds = flawed.get(path) ?? new Set();
      if (kinds.has(kind)) continue;
      if (known.has(path)) violations.push(flawViolation(flaw));
      else unknown.add(() => flawViolation(flaw));
      flawed.set(path, kinds.add(kind));
    }
    return flawed;
  }

  return (fields, { properties, flaws, flawsLeft = 0 }, violations) => {
    const unknown = collectUnknown(violations);
    const flawed = addFlaws(flaws, violations, unknown);
    unknown.count(flawsLeft);
    for (const [name, value] of properties) {
      const [field, kinds] = [known.get(name), flawed.get(name)];
      if (field === undefined) unknown.add(() => unknownProperty(name));
      else if (kinds === undefined || !isFlawed(value, kinds)) readProperty(field, value, fields, violations);
    }
    unknown.finish();
    for (const field of body.fields) if (field.required && !properties.has(field.name)) violations.push(missing(field));
    if (body.mask === undefined) return;
    if (properties.size === 0) {
      const message = `the body must have at least one property: ${names}`;
      violations.push({ field: "", rule: "min_properties", message });
    }
    fields[body.mask] = create(FieldMaskSchema, { paths: [...properties.keys()].filter((name) => known.has(name)) });
  };
}

/** Whether the value itself has a flaw. The lone surrogates of an array are in its items. */
function isFlawed(value: Json, kinds: ReadonlySet<Flaw["kind"]>): boolean {
  return kinds.has("duplicate") || typeof value === "string";
}

function flawViolation({ path, kind }: Flaw): Violation {
  const message = kind === "duplicate" ? "must not be given more than once" : "must not contain a lone surrogate";
  return { field: echoedName(path), rule: kind, message };
}
