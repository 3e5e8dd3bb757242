// What the stories of the drill share. A story is one client that does one thing after another and checks the outcome.
import { isDeepStrictEqual } from "node:util";
import type { Account } from "../../../fixtures/service/fixture.ts";
import type { Version } from "../fleet.ts";
import type { ExpectedResponse, Request, Traffic } from "../traffic.ts";

/** One client. */
export interface Story {
  /** Does the next thing; `to` is the version that writes, the other one reads it back. */
  step(number: number, to: Version): Promise<void>;
  /** Reads everything that it wrote from both versions. */
  check(): Promise<void>;
  /** How many documents it must have left in each collection. */
  left(): Readonly<Partial<Record<"contacts" | "notes" | "sessions" | "idempotency", number>>>;
}

/** Where a story takes place. */
export interface Scene {
  readonly traffic: Traffic;
  readonly account: Account;
}

/** The fields of a record as REST returns it. */
export type Data = Readonly<Record<string, unknown>>;

/** What `data` of the response is. */
export function dataOf({ reply }: ExpectedResponse): Data {
  return (JSON.parse(reply.body) as { readonly data: Data }).data;
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

/** Reads a path from both versions, which have to return the same bytes. */
export async function readBoth(scene: Scene, path: string, what: string): Promise<Data> {
  const [older, newer] = [await read(scene, "old", path, what), await read(scene, "new", path, what)];
  if (older.reply.body !== newer.reply.body)
    scene.traffic.violation(
      `${what} (GET ${path}) is ${older.reply.body} to the old version, and ${newer.reply.body} to the new one`,
    );
  return dataOf(newer);
}

/** The items that a search finds, from a version. */
export async function found(scene: Scene, to: Version, path: string, what: string): Promise<readonly Data[]> {
  return dataOf(await read(scene, to, path, what)) as unknown as readonly Data[];
}

/** Has to be equal; says what, by whom, and how it differs. */
export function same({ traffic }: Scene, what: string, value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected))
    traffic.violation(`${what}: ${JSON.stringify(value)} was read, and ${JSON.stringify(expected)} was written`);
}

/** Writes one item through the internal listener; the id of its record. */
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
 * A word of letters that no other number of the same name has, all of one length: a search for one finds no other. Each
 * letter is there twice, so that none is another with one letter misspelt.
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
