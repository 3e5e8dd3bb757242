// gRPC reflection, v1 and v1alpha, over the generated descriptors, from which clients such as grpcurl learn the
// interface.
import type { DescFile, Registry } from "@bufbuild/protobuf";
import { createRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { Code } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import type { ServerReflectionRequest, ServerReflectionResponse } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import {
  ServerReflection as ReflectionV1,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../gen/grpc/reflection/v1/reflection_pb.ts";
import {
  ServerReflection as ReflectionV1Alpha,
  ServerReflectionRequestSchema as RequestV1Alpha,
  ServerReflectionResponseSchema as ResponseV1Alpha,
} from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";

type Found = ServerReflectionResponse["messageResponse"];

/** Registers both versions for the services of these files, for health and reflection, and for the error details. */
export function registerReflection(router: ConnectRouter, files: readonly DescFile[]): void {
  const index = indexOf([
    ...files,
    Health.file,
    ReflectionV1.file,
    ReflectionV1Alpha.file,
    file_google_rpc_error_details,
  ]);
  const respond = (request: ServerReflectionRequest): ServerReflectionResponse => ({
    $typeName: "grpc.reflection.v1.ServerReflectionResponse",
    validHost: request.host,
    originalRequest: request,
    messageResponse: index(request),
  });
  router.service(ReflectionV1, {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) yield respond(request);
    },
  });
  router.service(ReflectionV1Alpha, {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        // Both versions have the same messages, under different names.
        const converted = fromBinary(ServerReflectionRequestSchema, toBinary(RequestV1Alpha, request));
        yield fromBinary(ResponseV1Alpha, toBinary(ServerReflectionResponseSchema, respond(converted)));
      }
    },
  });
}

function indexOf(roots: readonly DescFile[]): (request: ServerReflectionRequest) => Found {
  const files = new Map<string, DescFile>();
  for (const root of roots) for (const file of withImports(root)) files.set(file.proto.name, file);
  const all = [...files.values()];
  const registry = createRegistry(...all);
  const services = roots.flatMap((file) => file.services.map(({ typeName }) => typeName)).sort();

  return ({ messageRequest: request }) => {
    switch (request.case) {
      case "listServices":
        return {
          case: "listServicesResponse",
          value: {
            $typeName: "grpc.reflection.v1.ListServiceResponse",
            service: services.map((name) => ({ $typeName: "grpc.reflection.v1.ServiceResponse", name })),
          },
        };
      case "fileByFilename":
        return descriptors(files.get(request.value), request.value);
      case "fileContainingSymbol":
        return descriptors(fileOf(registry, request.value), request.value);
      case "fileContainingExtension": {
        const { containingType, extensionNumber } = request.value;
        return descriptors(
          extensionsOf(registry, containingType).find(({ number }) => number === extensionNumber)?.file,
          `${containingType}.${extensionNumber}`,
        );
      }
      case "allExtensionNumbersOfType":
        return {
          case: "allExtensionNumbersResponse",
          value: {
            $typeName: "grpc.reflection.v1.ExtensionNumberResponse",
            baseTypeName: request.value,
            extensionNumber: extensionsOf(registry, request.value).map(({ number }) => number),
          },
        };
      default:
        return failed(Code.InvalidArgument, "the request is empty");
    }
  };
}

/** Returns the file with its imports, so that a client needs no further request. */
function descriptors(file: DescFile | undefined, name: string): Found {
  if (file === undefined) return failed(Code.NotFound, `"${name}" does not exist`);
  const fileDescriptorProto = [...withImports(file)].map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return {
    case: "fileDescriptorResponse",
    value: { $typeName: "grpc.reflection.v1.FileDescriptorResponse", fileDescriptorProto },
  };
}

function failed(code: Code, message: string): Found {
  return {
    case: "errorResponse",
    value: { $typeName: "grpc.reflection.v1.ErrorResponse", errorCode: code, errorMessage: message },
  };
}

/** Returns the file of a service, message, enum or extension. For a method or field, returns the file of its parent. */
function fileOf(registry: Registry, symbol: string): DescFile | undefined {
  return registry.get(symbol)?.file ?? registry.get(symbol.slice(0, Math.max(0, symbol.lastIndexOf("."))))?.file;
}

function extensionsOf(registry: Registry, typeName: string) {
  return [...registry].flatMap((type) =>
    type.kind === "extension" && type.extendee.typeName === typeName ? [type] : [],
  );
}

function withImports(file: DescFile, seen = new Set<DescFile>()): Set<DescFile> {
  if (!seen.has(file)) {
    seen.add(file);
    for (const imported of file.dependencies) withImports(imported, seen);
  }
  return seen;
}
