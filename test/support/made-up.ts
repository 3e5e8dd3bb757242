// Services with an unimplemented RPC, as controls for tests that take their lists from the descriptors.
import type { DescService, MessageInitShape } from "@bufbuild/protobuf";
import { create, createFileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { everyService } from "../fixtures/clients/descriptors.ts";

type Messages = NonNullable<MessageInitShape<typeof FileDescriptorProtoSchema>["messageType"]>;

/** All services plus one with this name whose only RPC is a write. */
export function withMadeUp(service: string, rpc: string): readonly DescService[] {
  return [...everyService, madeUp(service, rpc, [{ name: "MadeUpRequest" }, { name: "MadeUpResponse" }])];
}

/** A service with its own messages, whose RPC takes the first message and returns the last. */
export function madeUp(service: string, rpc: string, messageType: Messages): DescService {
  const at = service.lastIndexOf(".");
  const [name, typePackage] = [service.slice(at + 1), service.slice(0, at)];
  const typed = ({ name: type }: { name?: string | undefined } = {}): string => `.${typePackage}.${type}`;
  const method = [{ name: rpc, inputType: typed(messageType[0]), outputType: typed(messageType.at(-1)) }];
  const file = create(FileDescriptorProtoSchema, {
    name: "made-up.proto",
    package: typePackage,
    syntax: "proto3",
    messageType,
    service: [{ name, method }],
  });
  const found = createFileRegistry(file, () => undefined).getService(service);
  if (found === undefined) throw new Error(`${service} was not made`);
  return found;
}
