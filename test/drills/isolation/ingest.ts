// Probes ingest: puts another account's ids and external ids into every item of every batch and into an import.
import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ScalarType, fromJson, toJson } from "@bufbuild/protobuf";
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
import { difference, leaksIn, uuid } from "./checker.ts";
import type { User } from "./users.ts";
import { newWord, secretsOf } from "./users.ts";
import { patiently, send } from "./raw.ts";
import type { Pair } from "./values.ts";
import { externalIdPairs, idPairs } from "./values.ts";

/** An item that names another account's record, and its twin that names a nonexistent one. */
interface Variation {
  readonly what: string;
  readonly pair: Pair;
  readonly foreign: JsonValue;
  readonly absent: JsonValue;
  /**
   * True if it names the item itself. An external id then creates one's own record, and another account's id is
   * rejected.
   */
  readonly makes: boolean;
}

/**
 * Sends every variation on behalf of one account and returns the other account's values in them. Without `makes`, sends
 * references to records. With it, sends items that would create records under another account's ids.
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

/** Chooses the variations to send. */
type Choice = (variations: readonly Variation[]) => readonly Variation[];

async function probeBatches(internal: string, own: User, other: User, findings: Findings, due: Choice): Promise<void> {
  const secrets = secretsOf(other);
  for (const rpc of IngestService.methods.filter(({ methodKind }) => methodKind === "unary")) {
    for (const field of rpc.input.fields.filter(({ name }) => name !== "account_id")) {
      const variations = due(itemsOf(field, own, other, findings));
      if (variations.length === 0) continue;
      const [foreign, absent] = await Promise.all(
        (["foreign", "absent"] as const).map(async (side) => {
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
            findings.violations.push(`${rpc.name} with another account's ids leaked ${leak}`);
          return (JSON.parse(response.body.toString()) as { results?: JsonValue[] }).results ?? [];
        }),
      );
      for (const [at, variation] of variations.entries())
        compare(`${rpc.name}: ${variation.what}`, variation, foreign?.[at], absent?.[at], findings);
      if (foreign?.length !== variations.length)
        findings.violations.push(`${rpc.name} returned ${foreign?.length} of ${variations.length} items`);
    }
  }
}

function compare(
  what: string,
  { pair, makes }: Variation,
  foreign: unknown,
  absent: unknown,
  findings: Findings,
): void {
  const like = (result: unknown, sent: Pair["foreign"]): string =>
    (JSON.stringify(result) ?? "nothing")
      .replaceAll(String(sent), "<sent>")
      .replaceAll(String(sent).toLowerCase(), "<sent>")
      .replace(uuid, "<id>");
  const [first, second] = [like(foreign, pair.foreign), like(absent, pair.absent)];
  if (!makes && first !== second)
    findings.violations.push(`${what} differs from the response for an unknown id: ${difference(first, second)}`);
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
              absent: { [kind.name]: variation.absent },
            })),
      ),
    );
    const rejections = async (side: "foreign" | "absent"): Promise<Map<number, unknown>> => {
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
          findings.violations.push(`Import with another account's ids leaked ${leak}`);
        for (const rejection of response.rejections)
          rejected.set(Number(rejection.position), [rejection.error?.reason, rejection.error?.message]);
      }
      findings.requests++;
      return rejected;
    };
    const [foreign, absent] = [await rejections("foreign"), await rejections("absent")];
    for (const [at, variation] of variations.entries())
      compare(`Import: ${variation.what}`, variation, foreign.get(at), absent.get(at), findings);
    if (foreign.size === 0)
      findings.violations.push("Import did not reject another account's ids, so it tested nothing");
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
    findings.violations.push(`Export leaked ${leak} of another account`);
  if (!all.includes(own.mark)) findings.violations.push("Export did not contain one's own records");
}

/** Removes values that the requests wrote. */
export function without(text: string, said: Iterable<string>): string {
  return [...said]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, one) => rest.replaceAll(one, "").replaceAll(one.toLowerCase(), ""), text);
}

/** The variations of a batch's list. */
function itemsOf(field: DescField, own: User, other: User, findings: Findings): Variation[] {
  if (field.message !== undefined) return variationsOf(field.message, own, other, findings);
  if (/_ids$/.test(field.name))
    return idPairs(other).map((pair) => ({
      what: `${field.name}: ${pair.what}`,
      pair,
      foreign: pair.foreign,
      absent: pair.absent,
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
        absent: { ...base, [field.name]: inner.absent },
      }));
    }
    if (!/(^|_)id$/.test(field.name)) return [];
    const pairs = field.name.endsWith("external_id") ? externalIdPairs(other) : idPairs(other);
    // An external id replaces the id.
    const { [field.name.replace("external_", "")]: _replaced, ...rest } = base;
    return kinds.flatMap((kind) =>
      pairs.map((pair) => ({
        what: `${field.name}: ${pair.what}`,
        pair,
        foreign: { ...rest, ...kind, [field.name]: pair.foreign },
        absent: { ...rest, ...kind, [field.name]: pair.absent },
        makes: /Item$/.test(message.name) && /^(external_)?id$/.test(field.name),
      })),
    );
  });
}

/** A valid item for one's own account. */
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
  if (field.fieldKind === "scalar") return field.scalar === ScalarType.STRING ? newWord() : 1;
  findings.violations.push(`no value known for ${parent.name}.${name}`);
  return undefined;
}
