// What the services inside may name: another account's ids and external ids in every item of every batch, and in an
// import.
import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";
import { randomUUID } from "node:crypto";
import {
  ExportResponseSchema,
  ImportRequestSchema,
  ImportResponseSchema,
  RecordSchema,
} from "../../../src/gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";
import { childToken } from "../../fixtures/service/child.ts";
import type { Findings } from "./checker.ts";
import { leaksIn, parting } from "./checker.ts";
import type { User } from "./users.ts";
import { newWord, secretsOf } from "./users.ts";
import { patiently, send } from "./raw.ts";
import type { Pair } from "./values.ts";
import { externalIdPairs, idPairs } from "./values.ts";

/** One item that names what is another's, and its twin that names what is nobody's. */
interface Variation {
  readonly what: string;
  readonly pair: Pair;
  readonly foreign: JsonValue;
  readonly nobodys: JsonValue;
  /**
   * True where it names the item itself: a record of one's own is made under that name, and an id that another has is
   * rejected.
   */
  readonly makes: boolean;
}

/** Texts of items, by the names of their fields. */
const texts = new Set([
  "full_name",
  "notes",
  "memory",
  "inferred_name",
  "title",
  "subtitle",
  "recording_status",
  "source",
  "conference_provider",
  "conference_url",
  "provider_doc_url",
  "title_slug",
  "content",
  "transcript",
  "phone",
]);

/**
 * Sends all of it on behalf of one account, and gives every value of the other that it named: either what only refers
 * to records, or what `makes` records under names that are another's, which are one's own from then on.
 */
export async function probeIngest(
  internal: string,
  own: User,
  other: User,
  makes: boolean,
  findings: Findings,
): Promise<ReadonlySet<string>> {
  const said = new Set<string>();
  const due: Choice = (variations) => {
    const chosen = variations.filter((variation) => variation.makes === makes);
    for (const { pair } of chosen) said.add(String(pair.foreign));
    return chosen;
  };
  await probeBatches(internal, own, other, findings, due);
  await probeStreams(internal, own, other, findings, due);
  if (!makes) await probeExport(internal, own, other, said, findings);
  return said;
}

/** Which of the variations are due. */
type Choice = (variations: readonly Variation[]) => readonly Variation[];

async function probeBatches(internal: string, own: User, other: User, findings: Findings, due: Choice): Promise<void> {
  const secrets = secretsOf(other);
  for (const rpc of IngestService.methods.filter(({ methodKind }) => methodKind === "unary")) {
    for (const field of rpc.input.fields.filter(({ name }) => name !== "account_id")) {
      const variations = due(itemsOf(field, own, other, findings));
      if (variations.length === 0) continue;
      const [foreign, nobodys] = await Promise.all(
        (["foreign", "nobodys"] as const).map(async (side) => {
          const request = { account_id: own.accountId, [field.name]: variations.map((variation) => variation[side]) };
          const response = await patiently(() =>
            send(
              internal,
              "POST",
              `/${rpc.parent.typeName}/${rpc.name}`,
              { "content-type": "application/json", authorization: `Bearer ${childToken}` },
              JSON.stringify(request),
            ),
          );
          findings.requests++;
          for (const leak of leaksIn(response, secrets, request))
            findings.violations.push(`${rpc.name} with ids of another responded with ${leak}`);
          return (JSON.parse(response.body.toString()) as { results?: JsonValue[] }).results ?? [];
        }),
      );
      for (const [at, variation] of variations.entries())
        compare(`${rpc.name}: ${variation.what}`, variation, foreign?.[at], nobodys?.[at], findings);
      if (foreign?.length !== variations.length)
        findings.violations.push(`${rpc.name} returned ${foreign?.length} of ${variations.length} items`);
    }
  }
}

function compare(
  what: string,
  { pair, makes }: Variation,
  foreign: unknown,
  nobodys: unknown,
  findings: Findings,
): void {
  const like = (result: unknown, sent: Pair["foreign"]): string =>
    (JSON.stringify(result) ?? "nothing")
      .replaceAll(String(sent), "<sent>")
      .replaceAll(String(sent).toLowerCase(), "<sent>")
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "<id>");
  const [first, second] = [like(foreign, pair.foreign), like(nobodys, pair.nobodys)];
  if (!makes && first !== second)
    findings.violations.push(`${what} differs from the response for an unknown id: ${parting(first, second)}`);
}

async function probeStreams(internal: string, own: User, other: User, findings: Findings, due: Choice): Promise<void> {
  await withClient(internal, async (client) => {
    const variations = due(
      RecordSchema.fields.flatMap((kind) =>
        kind.message === undefined
          ? []
          : variationsOf(kind.message, own, other, findings).map((variation) => ({
              ...variation,
              foreign: { [kind.name]: variation.foreign },
              nobodys: { [kind.name]: variation.nobodys },
            })),
      ),
    );
    const rejections = async (side: "foreign" | "nobodys"): Promise<Map<number, unknown>> => {
      const request = fromJson(ImportRequestSchema, {
        account_id: own.accountId,
        import_id: newWord(),
        records: variations.map((variation) => variation[side]),
      });
      const rejected = new Map<number, unknown>();
      for await (const response of client.import(
        (async function* () {
          yield await Promise.resolve(request);
        })(),
      )) {
        const json = toJson(ImportResponseSchema, response);
        for (const leak of leaksIn(JSON.stringify(json), secretsOf(other), toJson(ImportRequestSchema, request)))
          findings.violations.push(`Import with ids of another reported ${leak}`);
        for (const rejection of response.rejections)
          rejected.set(Number(rejection.position), [rejection.error?.reason, rejection.error?.message]);
      }
      findings.requests++;
      return rejected;
    };
    const [foreign, nobodys] = [await rejections("foreign"), await rejections("nobodys")];
    for (const [at, variation] of variations.entries())
      compare(`Import: ${variation.what}`, variation, foreign.get(at), nobodys.get(at), findings);
    if (foreign.size === 0)
      findings.violations.push("Import rejected nothing of another's: it was not put to the test");
  });
}

async function withClient<T>(internal: string, work: (client: Client<typeof IngestService>) => Promise<T>): Promise<T> {
  const sessionManager = new Http2SessionManager(internal);
  const transport = createGrpcTransport({
    baseUrl: internal,
    sessionManager,
    interceptors: [(next) => (request) => (request.header.set("authorization", `Bearer ${childToken}`), next(request))],
  });
  try {
    return await work(createClient(IngestService, transport));
  } finally {
    sessionManager.abort();
  }
}

async function probeExport(
  internal: string,
  own: User,
  other: User,
  said: Iterable<string>,
  findings: Findings,
): Promise<void> {
  const all = await withClient(internal, async (client) => {
    let text = "";
    for await (const stretch of client.export({ accountId: own.accountId }))
      text += JSON.stringify(toJson(ExportResponseSchema, stretch));
    return text;
  });
  findings.requests++;
  for (const leak of leaksIn(without(all, said), secretsOf(other), []))
    findings.violations.push(`Export gave ${leak}, which is another's`);
  if (!all.includes(own.mark)) findings.violations.push("Export gave nothing of one's own");
}

/** A text without the values that were put into it. */
export function without(text: string, said: Iterable<string>): string {
  return [...said]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, one) => rest.replaceAll(one, "").replaceAll(one.toLowerCase(), ""), text);
}

/** The items of a list of a batch. */
function itemsOf(field: DescField, own: User, other: User, findings: Findings): Variation[] {
  if (field.message !== undefined) return variationsOf(field.message, own, other, findings);
  if (/_ids$/.test(field.name))
    return idPairs(other).map((pair) => ({
      what: `${field.name}: ${pair.what}`,
      pair,
      foreign: pair.foreign,
      nobodys: pair.nobodys,
      makes: false,
    }));
  findings.violations.push(`no value known for ${field.parent.name}.${field.name}`);
  return [];
}

function variationsOf(message: DescMessage, own: User, other: User, findings: Findings): Variation[] {
  const base = baseOf(message, own, findings);
  const kinds = message.fields
    .find(({ name, fieldKind }) => name === "kind" && fieldKind === "enum")
    ?.enum?.values.filter(({ number }) => number !== 0)
    .map(({ name }) => ({ kind: name })) ?? [{}];
  return message.fields.flatMap((field): Variation[] => {
    if (field.message?.typeName.startsWith("records.")) {
      return variationsOf(field.message, own, other, findings).map((inner) => ({
        ...inner,
        makes: false,
        what: `${field.name}.${inner.what}`,
        foreign: { ...base, [field.name]: inner.foreign },
        nobodys: { ...base, [field.name]: inner.nobodys },
      }));
    }
    if (!/(^|_)id$/.test(field.name)) return [];
    const pairs = field.name.endsWith("external_id") ? externalIdPairs(other) : idPairs(other);
    // An external id is in place of the id.
    const { [field.name.replace("external_", "")]: _replaced, ...rest } = base;
    return kinds.flatMap((kind) =>
      pairs.map((pair) => ({
        what: `${field.name}: ${pair.what}`,
        pair,
        foreign: { ...rest, ...kind, [field.name]: pair.foreign },
        nobodys: { ...rest, ...kind, [field.name]: pair.nobodys },
        makes: /Item$/.test(message.name) && /^(external_)?id$/.test(field.name),
      })),
    );
  });
}

/** An item of one's own that would be written as it is. */
function baseOf(message: DescMessage, own: User, findings: Findings): JsonObject {
  const base: JsonObject = {};
  for (const field of message.fields) {
    const value = baseValue(field, own, findings);
    if (value !== undefined) base[field.name] = value;
  }
  return base;
}

function baseValue(field: DescField, own: User, findings: Findings): JsonValue | undefined {
  const { name, parent } = field;
  if (name === "id") return parent.name === "Recording" ? randomUUID() : undefined;
  if (name === "contact_id") return own.ids.contact;
  if (name === "session_id") return own.ids.session;
  if (name === "email" || name.endsWith("external_id") || field.message?.typeName === "google.protobuf.Timestamp")
    return undefined;
  if (field.message !== undefined) return undefined;
  if (field.enum !== undefined) return field.enum.values.find(({ number }) => number !== 0)?.name;
  if (name === "position" || name === "duration_seconds") return 1;
  if (texts.has(name)) return newWord();
  findings.violations.push(`no value known for ${parent.name}.${name}`);
  return undefined;
}
