// Looks for every secret that the tests were given in everything that a service leaves behind: logs, MongoDB, Redis,
// metrics.
import { Redis } from "ioredis";
import type { Db } from "mongodb";
import { BSON } from "mongodb";
import type { TestService } from "./service.ts";

const issued = new Set<string>();
/** More documents than this are records of a test of size, which no secret comes near. */
const mostDocuments = 5_000;

/** Remembers a secret; a shorter text could be found by chance. */
export function noteSecret(secret: string): void {
  if (secret.length >= 16) issued.add(secret);
}

/** The password in the URI of a database; empty if there is none. */
export function passwordOf(uri: string): string {
  return /:\/\/[^/@]*:([^/@]*)@/.exec(uri)?.[1] ?? "";
}

/** The secrets that a text holds, as they are or in base64. */
export function secretsIn(text: string, secrets: Iterable<string> = issued): string[] {
  return [...secrets].filter(
    (secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString("base64").replace(/=+$/, "")),
  );
}

/** Where a service has left a secret; empty where it kept them all. */
export async function findSecrets(
  service: Pick<TestService, "app" | "internal" | "logLines" | "redis">,
  secrets: Iterable<string> = issued,
): Promise<string[]> {
  const places: readonly (readonly [string, string])[] = [
    ["the log", service.logLines.join("")],
    ["the metrics", await (await fetch(`${service.internal}/metrics`)).text()],
    ...(await databaseTexts(service.app.client.db())),
    ["Redis", await redisText(service.redis.uri)],
  ];
  return places.flatMap(([place, text]) =>
    secretsIn(text, secrets).map((secret) => `${place} holds ${secret.slice(0, 12)}…`),
  );
}

const recordCollections = ["contacts", "sessions", "transcripts", "notes"];
/**
 * A shorter text could be found by chance, as digits could in the fraction of a number; of more than this many, each is
 * like the others.
 */
const shortestText = 9;
const mostTexts = 1_000;

/**
 * Where a service has told what its records say, though it is nobody's business but theirs: the log and the metrics.
 */
export async function findRecordTexts({
  app,
  internal,
  logLines,
  linesAtStart,
}: Pick<TestService, "app" | "internal" | "logLines" | "linesAtStart">): Promise<string[]> {
  const texts = new Set<string>();
  for (const name of recordCollections) {
    for (const document of await app.client.db().collection(name).find({}, { limit: mostTexts }).toArray())
      collectTexts(document, texts);
  }
  // What an instance says at its start, and what a metric means, are words of ours, which a record may have as well.
  const samples = (await (await fetch(`${internal}/metrics`)).text())
    .split("\n")
    .filter((line) => !line.startsWith("#"));
  const places = [
    ["the log", logLines.slice(linesAtStart).join("")],
    ["the metrics", samples.join("\n")],
  ] as const;
  return places.flatMap(([place, told]) =>
    [...texts]
      .filter((text) => told.includes(text))
      .map((text) => `${place} holds ${JSON.stringify(text.slice(0, 40))}`),
  );
}

function collectTexts(value: unknown, texts: Set<string>): void {
  if (typeof value === "string" && value.length >= shortestText && /\p{L}/u.test(value) && texts.size < mostTexts)
    texts.add(JSON.stringify(value).slice(1, -1));
  else if (typeof value === "object" && value !== null && !("_bsontype" in value))
    for (const inner of Object.values(value)) collectTexts(inner, texts);
}

/** Every collection as text; binary values as the bytes that they are. */
export async function databaseTexts(db: Db): Promise<[string, string][]> {
  const collections = await db.listCollections({ name: { $not: /^system\./ } }, { nameOnly: true }).toArray();
  return Promise.all(
    collections.map(async ({ name }): Promise<[string, string]> => {
      const documents = await db.collection(name).find({}, { limit: mostDocuments }).toArray();
      const bytes = documents
        .flatMap((document) => Object.values(document))
        .filter((value): value is { buffer: Uint8Array } => value?._bsontype === "Binary");
      return [
        `the collection ${name}`,
        BSON.EJSON.stringify(documents) + bytes.map(({ buffer }) => Buffer.from(buffer).toString("latin1")).join("\n"),
      ];
    }),
  );
}

/** Every key of Redis with its value; empty where Redis is gone. */
export async function redisText(uri: string): Promise<string> {
  const redis = new Redis(uri, {
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    commandTimeout: 2_000,
    lazyConnect: true,
  });
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    const keys = await redis.keys("*");
    const values = await Promise.all(
      keys.map(async (key) =>
        (await redis.type(key)) === "hash" ? JSON.stringify(await redis.hgetall(key)) : await redis.get(key),
      ),
    );
    return [...keys, ...values].join("\n");
  } catch {
    return "";
  } finally {
    redis.disconnect();
  }
}
