// Puts another account's ids into every field of every operation, and compares with unknown ids.
import type { Findings } from "./checker.ts";
import { leaksIn, likeness, parting } from "./checker.ts";
import type { Given, Operation } from "./operations.ts";
import type { User } from "./users.ts";
import { secretsOf } from "./users.ts";
import type { RawResponse } from "./raw.ts";
import { patiently } from "./raw.ts";
import type { Pair } from "./values.ts";
import { valuesOf } from "./values.ts";

/** How far to go: some values of every field, all of them, or also some of every two fields together. */
export type Reach = "some" | "all" | "two";

/** The sender of the requests, and the user whose records must not show. */
export interface Sides {
  readonly own: User;
  readonly other: User;
}

interface Variation {
  readonly what: string;
  readonly pairs: readonly Pair[];
  readonly foreign: Given;
  readonly nobodys: Given;
}

/** One's own values in what an operation cannot do without. */
function ownRequest({ name, required, fields }: Operation, { own, other }: Sides, findings: Findings): Given {
  for (const field of fields)
    if (valuesOf(field, own, other) === undefined)
      findings.violations.push(`no value known for the field ${field} of ${name}`);
  return Object.fromEntries(required.map((field) => [field, valuesOf(field, own, other)?.own]));
}

/** Checks that one's own request to an operation shows one's own records: what shows nothing cannot leak. */
export async function probeOwn(operation: Operation, sides: Sides, findings: Findings): Promise<void> {
  const given = ownRequest(operation, sides, findings);
  const response = await sendAndCheck(operation, given, sides, findings);
  if (operation.shows && !response.body.includes(sides.own.mark))
    findings.violations.push(
      `${named(operation)} did not show one's own record: ${response.status} ${response.body.toString("latin1").slice(0, 200)}`,
    );
}

/** Puts another's values into every field. `between` is run after each request. */
export async function probe(
  operation: Operation,
  sides: Sides,
  reach: Reach,
  findings: Findings,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const base = ownRequest(operation, sides, findings);
  for (const { what, pairs, foreign, nobodys } of variationsOf(operation, base, sides, reach)) {
    const first = likeness(
      operation,
      await sendAndCheck(operation, foreign, sides, findings),
      pairs.map((pair) => pair.foreign),
    );
    await between();
    const second = likeness(
      operation,
      await sendAndCheck(operation, nobodys, sides, findings),
      pairs.map((pair) => pair.nobodys),
    );
    await between();
    if (first !== second)
      findings.violations.push(
        `${named(operation)}, ${what}: the response is not that of nobody's: ${parting(first, second)}`,
      );
  }
}

/** What a client says of itself makes it no one else. */
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
  if (likeness(operation, plain, []) !== likeness(operation, dressed, []))
    findings.violations.push(`${named(operation)} responds otherwise when its headers name another account`);
}

/** Sends what another has already sent, under the same idempotency key, and its twin under a key that nobody used. */
export async function probeKey(
  operation: Operation,
  { key, given, response }: Claimed,
  sides: Sides,
  findings: Findings,
): Promise<void> {
  const anonymous = Object.fromEntries(
    Object.entries(given).map(([field, value]) => [
      field,
      valuesOf(field, sides.own, sides.other)?.pairs.find(({ foreign }) => foreign === value)?.nobodys ?? value,
    ]),
  );
  const mine = await sendAndCheck(operation, given, sides, findings, { "idempotency-key": key });
  const twin = await sendAndCheck(operation, anonymous, sides, findings, { "idempotency-key": `${key}-of-nobody` });
  const [first, second] = [
    likeness(operation, mine, Object.values(given)),
    likeness(operation, twin, Object.values(anonymous)),
  ];
  if (first !== second)
    findings.violations.push(`${named(operation)} under another's idempotency key: ${parting(first, second)}`);
  const made = [...response.body.toString("latin1").matchAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g)].map(
    ([id]) => id,
  );
  for (const leak of leaksIn(mine, made, given))
    findings.violations.push(
      `${named(operation)} under another's idempotency key responded with the id ${leak} of theirs`,
    );
  const again = await patiently(() => operation.send(given, sides.other, { "idempotency-key": key }));
  if (!again.body.equals(response.body))
    findings.violations.push(
      `${named(operation)}: another's response is replayed otherwise since the key was used here`,
    );
}

/** A write that someone made under an idempotency key. */
export interface Claimed {
  readonly key: string;
  readonly given: Given;
  readonly response: RawResponse;
}

/** Makes the write of an operation as one's own. */
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
      `${named(operation)} sent with ${JSON.stringify(given)} responded with ${leak}, which is another's`,
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
  const side = (key: "foreign" | "nobodys"): Given => ({
    ...base,
    ...Object.fromEntries(varied.map(({ field, pair }) => [field, pair[key]])),
  });
  return {
    what: varied.map(({ field, pair }) => `${field} is ${pair.what}`).join(", "),
    pairs: varied.map(({ pair }) => pair),
    foreign: side("foreign"),
    nobodys: side("nobodys"),
  };
}

function named({ name, wire }: Operation): string {
  return `${name} by ${wire}`;
}
