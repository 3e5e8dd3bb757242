// What the stories share. A story is a client that performs steps and checks their outcome.
import { isDeepStrictEqual } from "node:util";
import type { Account } from "../../../fixtures/service/fixture.ts";
import type { Version } from "../fleet.ts";
import type { ExpectedResponse, Request, Traffic } from "../traffic.ts";

export interface Story {
  /** Performs the next step. Writes to the version `to` and reads back from the other. */
  step(number: number, to: Version): Promise<void>;
  /** Reads everything that it wrote from both versions. */
  check(): Promise<void>;
  /** How many documents it must have left in each collection. */
  left(): Readonly<Partial<Record<"contacts" | "notes" | "sessions" | "idempotency", number>>>;
}

/** The traffic and the account of a story. */
export interface Scene {
  readonly traffic: Traffic;
  readonly account: Account;
}

/** The fields of a record as REST returns it. */
export type Data = Readonly<Record<string, unknown>>;

/** The `data` of a response. */
export function dataOf({ reply }: ExpectedResponse): Data {
  return (JSON.parse(reply.body) as { readonly data: Data }).data;
}

/** Sends a write whose idempotency key describes it. */
export function post(
  { traffic, account: { key } }: Scene,
  to: Version,
  path: string,
  idempotencyKey: string,
  body: object,
  status = 201,
): Promise<ExpectedResponse> {
  const expect = [status];
  return traffic.send({ to, what: idempotencyKey, method: "POST", path, key, idempotencyKey, body, expect });
}

/** Changes the record at a path. */
export function patch(
  { traffic, account: { key } }: Scene,
  to: Version,
  path: string,
  what: string,
  body: object,
  status = 200,
): Promise<ExpectedResponse> {
  return traffic.send({ to, what, method: "PATCH", path, key, body, expect: [status] });
}

/** Reads a path from a version. */
export async function read(
  { traffic, account }: Scene,
  to: Version,
  path: string,
  what: string,
): Promise<ExpectedResponse> {
  return traffic.send({ to, what, method: "GET", path, key: account.key, expect: [200] });
}

/** Reads a path from both versions, which must return the same bytes. */
export async function readBoth(scene: Scene, path: string, what: string): Promise<Data> {
  const [older, newer] = [await read(scene, "old", path, what), await read(scene, "new", path, what)];
  if (older.reply.body !== newer.reply.body)
    scene.traffic.violation(
      `${what} (GET ${path}) is ${older.reply.body} on the old version, but ${newer.reply.body} on the new one`,
    );
  return dataOf(newer);
}

/** The results of a search on a version. */
export async function found(scene: Scene, to: Version, path: string, what: string): Promise<readonly Data[]> {
  return dataOf(await read(scene, to, path, what)) as unknown as readonly Data[];
}

/** Reports a violation if the value differs from the expected one. */
export function same({ traffic }: Scene, what: string, value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected))
    traffic.violation(`${what}: ${JSON.stringify(value)} was read, and ${JSON.stringify(expected)} was written`);
}

/** Writes one item through the internal listener and returns the id of its record. */
export async function ingest(
  { traffic, account }: Scene,
  to: Version,
  rpc: string,
  batch: string,
  item: unknown,
): Promise<string> {
  const request = {
    to,
    what: rpc,
    method: "POST",
    path: `/records.ingest.v1.IngestService/${rpc}`,
    body: { account_id: account.id, [batch]: [item] },
    expect: [200],
  } satisfies Request;
  const { reply, by } = await traffic.send(request);
  const [result] = (
    JSON.parse(reply.body) as { readonly results: readonly { readonly id: string; readonly error?: object }[] }
  ).results;
  if (result?.error !== undefined) traffic.violation(`${rpc} to the ${by.version} version failed: ${reply.body}`);
  return result?.id ?? "";
}

/**
 * A unique word of letters for each number, all of the same length, so that a search only finds its own. Letters are
 * doubled, so that no word is a one-letter typo of another.
 */
export function wordOf(name: string, number: number): string {
  const letters = Array.from({ length: 5 }, (_, place) =>
    String.fromCharCode(97 + (Math.floor(number / 26 ** place) % 26)),
  );
  return `${name}q${letters
    .reverse()
    .map((letter) => letter + letter)
    .join("")}`;
}
