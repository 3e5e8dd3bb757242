// gRPC health and reflection on the internal listener, as ordinary gRPC clients use them, without a token.
import type { DescFile, DescMessage, MessageShape } from "@bufbuild/protobuf";
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HealthCheckRequestSchema, HealthCheckResponseSchema } from "../../src/gen/grpc/health/v1/health_pb.ts";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import type {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService();
  client = new Client(new URL(service.internal).host, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await service.stop();
});

const write =
  <T extends DescMessage>(schema: T) =>
  (message: MessageShape<T>): Buffer =>
    Buffer.from(toBinary(schema, message));
const read =
  <T extends DescMessage>(schema: T) =>
  (bytes: Buffer): MessageShape<T> =>
    fromBinary(schema, bytes);

const services = [
  "records.v1.HealthService",
  "records.v1.ContactService",
  "records.v1.SessionService",
  "records.v1.NoteService",
  "records.admin.v1.AccountService",
  "records.admin.v1.InterfaceService",
  "records.ingest.v1.IngestService",
];

/** The status of a service: 1 is SERVING, 2 is NOT_SERVING; or the code of gRPC. */
function check(name: string, on = client): Promise<{ status?: number; code?: number }> {
  return new Promise((resolve) => {
    const request = create(HealthCheckRequestSchema, { service: name });
    on.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      write(HealthCheckRequestSchema),
      read(HealthCheckResponseSchema),
      request,
      (error, response) => resolve(error === null ? { status: response?.status ?? 0 } : { code: error.code }),
    );
  });
}

/** Sends the requests on one stream, and returns what comes back. */
function reflect(
  version: "v1" | "v1alpha",
  ...requests: ServerReflectionRequest["messageRequest"][]
): Promise<ServerReflectionResponse["messageResponse"][]> {
  return new Promise((resolve, reject) => {
    const responses: ServerReflectionResponse["messageResponse"][] = [];
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    // Both versions have the same messages, byte for byte.
    const stream = client.makeBidiStreamRequest(
      path,
      write(ServerReflectionRequestSchema),
      read(ServerReflectionResponseSchema),
    );
    stream.on("data", ({ messageResponse }: ServerReflectionResponse) => responses.push(messageResponse));
    stream.on("error", reject).on("end", () => resolve(responses));
    for (const messageRequest of requests) stream.write(create(ServerReflectionRequestSchema, { messageRequest }));
    stream.end();
  });
}

function filesOf(response: ServerReflectionResponse["messageResponse"] | undefined): Map<string, DescFile> {
  if (response?.case !== "fileDescriptorResponse") throw new Error(`no files: ${JSON.stringify(response)}`);
  const protos = response.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  const file: FileDescriptorProto[] = [];
  const add = (proto: FileDescriptorProto): void => {
    if (file.includes(proto)) return;
    for (const name of proto.dependency) add(protos.find((one) => one.name === name) ?? fail(`${name} is missing`));
    file.push(proto);
  };
  protos.forEach(add);
  return new Map(
    [...createFileRegistry(create(FileDescriptorSetSchema, { file })).files].map((one) => [one.proto.name, one]),
  );
}

function fail(message: string): never {
  throw new Error(message);
}

test("health is SERVING for the whole server and for each of its services, without a token [ADM-02]", async () => {
  for (const name of ["", ...services]) expect(await check(name), name).toEqual({ status: 1 });
  expect(await check("records.v1.Nothing")).toEqual({ code: 5 });
});

test("Watch reports the status at once, and SERVICE_UNKNOWN for an unknown service [ADM-02]", async () => {
  for (const [name, status] of [
    ["", 1],
    ["records.v1.ContactService", 1],
    ["nothing", 3],
  ] as const) {
    const first = await new Promise((resolve, reject) => {
      const request = create(HealthCheckRequestSchema, { service: name });
      const stream = client.makeServerStreamRequest(
        "/grpc.health.v1.Health/Watch",
        write(HealthCheckRequestSchema),
        read(HealthCheckResponseSchema),
        request,
      );
      stream.once("data", (response: { status: number }) => {
        resolve(response.status);
        stream.cancel();
      });
      stream.on("error", reject);
    });
    expect(first).toBe(status);
  }
});

test.each(["v1", "v1alpha"] as const)(
  "reflection %s lists the services and returns their files, complete and buildable, without a token [ADM-02]",
  async (version) => {
    const [listed] = await reflect(version, { case: "listServices", value: "" });
    const names = listed?.case === "listServicesResponse" ? listed.value.service.map(({ name }) => name) : [];
    expect(names).toEqual(expect.arrayContaining(services));
    for (const symbol of [
      ...services,
      "records.v1.ContactService.GetContact",
      "records.v1.Contact",
      "records.v1.Contact.full_name",
    ]) {
      const [response] = await reflect(version, { case: "fileContainingSymbol", value: symbol });
      expect(filesOf(response).size, symbol).toBeGreaterThan(0);
    }
    const [byName, again] = await reflect(
      version,
      { case: "fileByFilename", value: "records/v1/contacts.proto" },
      { case: "fileByFilename", value: "records/v1/contacts.proto" },
    );
    expect([...filesOf(byName).keys()]).toEqual(
      expect.arrayContaining(["records/v1/contacts.proto", "google/protobuf/timestamp.proto"]),
    );
    expect(again?.case).toBe("fileDescriptorResponse");
  },
);

test.each(["v1", "v1alpha"] as const)(
  "reflection %s returns NOT_FOUND for unknown names, and continues [ADM-02]",
  async (version) => {
    const responses = await reflect(
      version,
      { case: "fileContainingSymbol", value: "records.v1.Nothing" },
      { case: "fileByFilename", value: "nothing.proto" },
      {
        case: "fileContainingExtension",
        value: {
          $typeName: "grpc.reflection.v1.ExtensionRequest",
          containingType: "google.protobuf.MethodOptions",
          extensionNumber: 4_242,
        },
      },
      { case: undefined },
      { case: "listServices", value: "" },
    );
    expect(
      responses.map((response) => (response.case === "errorResponse" ? response.value.errorCode : response.case)),
    ).toEqual([5, 5, 5, 3, "listServicesResponse"]);
  },
);

test("health becomes NOT_SERVING when the instance stops, and running calls end in order [ADM-02, OPS-16]", async () => {
  const other = await service.another();
  const watching = new Client(new URL(other.internal).host, credentials.createInsecure());
  const seen: number[] = [];
  const request = create(HealthCheckRequestSchema, { service: "" });
  const stream = watching.makeServerStreamRequest(
    "/grpc.health.v1.Health/Watch",
    write(HealthCheckRequestSchema),
    read(HealthCheckResponseSchema),
    request,
  );
  const ended = new Promise((resolve) => stream.on("end", resolve).on("error", resolve));
  await new Promise<void>((resolve) =>
    stream.on("data", ({ status }: { status: number }) => {
      seen.push(status);
      resolve();
    }),
  );
  const stopped = other.stop();
  await ended;
  await stopped;
  watching.close();
  expect(seen).toEqual([1, 2]);
});
