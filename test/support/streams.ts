// Calls Import and Export like an internal service, with gRPC over cleartext HTTP/2.
import type { JsonObject } from "@bufbuild/protobuf";
import { create, fromJson, toJson } from "@bufbuild/protobuf";
import type { Client as ConnectClient } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";
import { onTestFinished } from "vitest";
import type { ImportResponse } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { ImportRequestSchema, ImportRestart, RecordSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import { IngestService } from "../../src/gen/records/ingest/v1/ingest_pb.ts";
import type { TestService } from "../fixtures/service/service.ts";

/** A record in protobuf's JSON with snake_case names. */
export type RecordJson = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Sending {
  readonly accountId: string;
  readonly importId?: string;
  readonly records: readonly RecordJson[];
  /** The position of the first record. */
  readonly position?: number;
  /** The number of records per message. */
  readonly chunk?: number;
  readonly updateByEmail?: boolean;
  readonly restart?: ImportRestart;
  /** The fields of contacts, sent with each message of records up to `fieldsUntil`, which is 1 by default. */
  readonly contactFields?: readonly string[];
  readonly fieldsUntil?: number;
  /** The position before which the client has received every rejection. */
  readonly acknowledgedPosition?: number;
  /** Called before each message except the first. */
  readonly between?: (sent: number) => Promise<void> | void;
}

export function ingestClient(service: TestService, token = service.serviceToken): ConnectClient<typeof IngestService> {
  const sessionManager = new Http2SessionManager(service.internal);
  onTestFinished(() => sessionManager.abort());
  const transport = createGrpcTransport({
    baseUrl: service.internal,
    sessionManager,
    interceptors: [(next) => (request) => (request.header.set("authorization", `Bearer ${token}`), next(request))],
  });
  return createClient(IngestService, transport);
}

export async function importAll(service: TestService, sending: Sending): Promise<ImportResponse[]> {
  const responses: ImportResponse[] = [];
  for await (const response of ingestClient(service).import(messages(sending))) responses.push(response);
  return responses;
}

export async function* messages(sending: Sending) {
  const { accountId, importId = "", records, position = 0, chunk = 100, updateByEmail = false, between } = sending;
  const { restart = ImportRestart.UNSPECIFIED, contactFields: paths, fieldsUntil = 1 } = sending;
  const acknowledgedPosition = BigInt(sending.acknowledgedPosition ?? 0);
  yield create(ImportRequestSchema, {
    accountId,
    importId,
    position: BigInt(position),
    updateByEmail,
    restart,
    acknowledgedPosition,
  });
  for (let at = 0; at < records.length; at += chunk) {
    await between?.(at);
    yield create(ImportRequestSchema, {
      records: records.slice(at, at + chunk).map((record) => fromJson(RecordSchema, record as JsonObject)),
      ...(paths !== undefined && at < fieldsUntil ? { contactFields: { paths: [...paths] } } : {}),
    });
  }
}

export async function exportAll(service: TestService, accountId: string): Promise<RecordJson[]> {
  const records: RecordJson[] = [];
  for await (const response of ingestClient(service).export({ accountId })) {
    records.push(
      ...response.records.map((record) => toJson(RecordSchema, record, { useProtoFieldName: true }) as RecordJson),
    );
  }
  return records;
}
