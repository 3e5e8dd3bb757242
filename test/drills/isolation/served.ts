// Lists the services that an instance reports. The drill must know all of them.
import { createClient } from "@connectrpc/connect";
import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";
import { table } from "../../../src/http/route.ts";
import { ServerReflection } from "../../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { beyondRest } from "./operations.ts";
import { IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";

/** Services that do not belong to an account: the operator's, health and reflection. */
const ofNoAccount = /^(records\.admin\.v1|grpc\.health\.v1|grpc\.reflection\.v1(alpha)?)\./;

/** Describes the services and RPCs that the drill does not call. */
export async function unknownRpcs(internal: string): Promise<string[]> {
  const sessionManager = new Http2SessionManager(internal);
  try {
    const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: internal, sessionManager }));
    const requests = (async function* () {
      yield await Promise.resolve({ messageRequest: { case: "listServices" as const, value: "" } });
    })();
    const services: string[] = [];
    for await (const { messageResponse } of client.serverReflectionInfo(requests)) {
      if (messageResponse.case === "listServicesResponse")
        services.push(...messageResponse.value.service.map(({ name }) => name));
    }
    const known = new Map(
      [...table.map(({ rpc }) => rpc.parent), IngestService].map((service) => [service.typeName, service]),
    );
    const rpcs = new Set([...table, ...beyondRest].map(({ rpc }) => rpc));
    return [
      ...(services.length === 0 ? ["the instance reports no services"] : []),
      ...services
        .filter((name) => !known.has(name) && !ofNoAccount.test(name))
        .map((name) => `no value known for the service ${name}`),
      ...[...known.values()]
        .filter((service) => service !== IngestService)
        .flatMap(({ methods }) => methods)
        .filter((rpc) => !rpcs.has(rpc as never))
        .map(({ name }) => `no value known for ${name}, which REST does not have`),
      ...IngestService.methods
        .filter(({ methodKind, name }) => methodKind !== "unary" && name !== "Import" && name !== "Export")
        .map(({ name }) => `no value known for the stream ${name}`),
    ];
  } finally {
    sessionManager.abort();
  }
}
