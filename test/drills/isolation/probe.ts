// Puts another account's ids into every field of every operation and compares the responses with those for unknown ids.
import type { Findings } from "./checker.ts";
import { difference, leaksIn, normalized, uuid } from "./checker.ts";
import type { Given, Operation } from "./operations.ts";
import type { User } from "./users.ts";
import { secretsOf } from "./users.ts";
import type { RawResponse } from "./raw.ts";
import { patiently } from "./raw.ts";
import type { Pair } from "./values.ts";
import { valuesOf } from "./values.ts";

/** What to try: some values of every field, all values, or also some values of every pair of fields. */
export type Reach = "some" | "all" | "two";

/** The sender of the requests, and the user whose records must not leak. */
export interface Sides {
  readonly own: User;
  readonly other: User;
}

interface Variation {
  readonly what: string;
  readonly pairs: readonly Pair[];
  readonly foreign: Given;
  readonly absent: Given;
}

/** A request with one's own values in the required fields. */
function ownRequest({ name, required, fields }: Operation, { own, other }: Sides, findings: Findings): Given {
  for (const field of fields)
    if (valuesOf(field, own, other) === undefined)
      findings.violations.push(`no value known for the field ${field} of ${name}`);
  return Object.fromEntries(required.map((field) => [field, valuesOf(field, own, other)?.own]));
}

/** Checks that an operation returns one's own records. Otherwise it could not leak anything. */
export async function probeOwn(operation: Operation, sides: Sides, findings: Findings): Promise<void> {
  const given = ownRequest(operation, sides, findings);
  const response = await sendAndCheck(operation, given, sides, findings);
  if (operation.shows && !response.body.includes(sides.own.mark))
    findings.violations.push(
      `${named(operation)} did not show one's own record: ${response.status} ${response.body.toString("latin1").slice(0, 200)}`,
    );
}

/** Puts another account's values into every field. Runs `between` after each request. */
export async function probe(
  operation: Operation,
  sides: Sides,
  reach: Reach,
  findings: Findings,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const base = ownRequest(operation, sides, findings);
  for (const { what, pairs, foreign, absent } of variationsOf(operation, base, sides, reach)) {
    const first = normalized(
      operation,
      await sendAndCheck(operation, foreign, sides, findings),
      pairs.map((pair) => pair.foreign),
    );
    await between();
    const second = normalized(
      operation,
      await sendAndCheck(operation, absent, sides, findings),
      pairs.map((pair) => pair.absent),
    );
    await between();
    if (first !== second)
      findings.violations.push(
        `${named(operation)}, ${what}: the response differs from that for an unknown value: ${difference(first, second)}`,
      );
  }
}

/** A client cannot claim another identity in headers. */
export async function probeHeaders(operation: Operation, sides: Sides, findings: Findings): Promise<void> {
  const given = ownRequest(operation, sides, findings);
  const { accountId, cookie } = sides.other;
  const [plain, dressed] = [
    await sendAndCheck(operation, given, sides, findings),
    await sendAndCheck(operation, given, sides, findings, {
      "records-account-id": accountId,
      "x-account-id": accountId,
      cookie,
    }),
  ];
  if (normalized(operation, plain, []) !== normalized(operation, dressed, []))
    findings.violations.push(`${named(operation)} responds differently if headers name another account`);
}

/** Repeats another account's write under the same idempotency key, and a twin under an unused key. */
export async function probeKey(
  operation: Operation,
  { key, given, response }: Claimed,
  sides: Sides,
  findings: Findings,
): Promise<void> {
  const anonymous = Object.fromEntries(
    Object.entries(given).map(([field, value]) => [
      field,
      valuesOf(field, sides.own, sides.other)?.pairs.find(({ foreign }) => foreign === value)?.absent ?? value,
    ]),
  );
  const mine = await sendAndCheck(operation, given, sides, findings, { "idempotency-key": key });
  const twin = await sendAndCheck(operation, anonymous, sides, findings, { "idempotency-key": `${key}-of-nobody` });
  const [first, second] = [
    normalized(operation, mine, Object.values(given)),
    normalized(operation, twin, Object.values(anonymous)),
  ];
  if (first !== second)
    findings.violations.push(
      `${named(operation)} under another account's idempotency key: ${difference(first, second)}`,
    );
  const made = response.body.toString("latin1").match(uuid) ?? [];
  for (const leak of leaksIn(mine, made, given))
    findings.violations.push(`${named(operation)} under another account's idempotency key leaked its id ${leak}`);
  const again = await patiently(() => operation.send(given, sides.other, { "idempotency-key": key }));
  if (!again.body.equals(response.body))
    findings.violations.push(`${named(operation)}: the other account's replay changed after its key was used here`);
}

/** A write with an idempotency key. */
export interface Claimed {
  readonly key: string;
  readonly given: Given;
  readonly response: RawResponse;
}

/** Performs an operation's write in one's own account. */
export async function claim(operation: Operation, sides: Sides, findings: Findings): Promise<Claimed> {
  const key = `drill-${operation.name}-${operation.wire}`.replace(/[^!-~]/g, "-");
  const given = ownRequest(operation, sides, findings);
  const response = await patiently(() => operation.send(given, sides.own, { "idempotency-key": key }));
  if (response.status >= 300)
    findings.violations.push(`${named(operation)} under an idempotency key got ${response.status}`);
  return { key, given, response };
}

async function sendAndCheck(
  operation: Operation,
  given: Given,
  { own, other }: Sides,
  findings: Findings,
  headers?: Readonly<Record<string, string>>,
): Promise<RawResponse> {
  const response = await patiently(() => operation.send(given, own, headers));
  findings.requests++;
  for (const leak of leaksIn(response, secretsOf(other), given))
    findings.violations.push(
      `${named(operation)} sent with ${JSON.stringify(given)} leaked ${leak} of another account`,
    );
  if (response.status >= 500)
    findings.violations.push(`${named(operation)} sent with ${JSON.stringify(given)} got ${response.status}`);
  return response;
}

function variationsOf({ fields }: Operation, base: Given, { own, other }: Sides, reach: Reach): Variation[] {
  const varied = (most?: number) =>
    fields.flatMap((field) =>
      (valuesOf(field, own, other)?.pairs ?? []).slice(0, most).map((pair) => ({ field, pair })),
    );
  const some = varied(2);
  const one = (reach === "some" ? some : varied()).map((single): Variation => put(base, [single]));
  if (reach !== "two") return one;
  const two = some.flatMap((first, at) =>
    some
      .slice(at + 1)
      .filter(({ field }) => field !== first.field)
      .map((second) => put(base, [first, second])),
  );
  return [...one, ...two];
}

function put(base: Given, varied: readonly { readonly field: string; readonly pair: Pair }[]): Variation {
  const side = (key: "foreign" | "absent"): Given => ({
    ...base,
    ...Object.fromEntries(varied.map(({ field, pair }) => [field, pair[key]])),
  });
  return {
    what: varied.map(({ field, pair }) => `${field} is ${pair.what}`).join(", "),
    pairs: varied.map(({ pair }) => pair),
    foreign: side("foreign"),
    absent: side("absent"),
  };
}

function named({ name, wire }: Operation): string {
  return `${name} by ${wire}`;
}
