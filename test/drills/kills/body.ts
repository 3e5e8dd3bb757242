// The body of a response as REST sends it, whichever wire it came by: so that responses of all wires can be compared by
// their bytes.
import { fromJson } from "@bufbuild/protobuf";
import { createRenderBody } from "../../../src/http/response.ts";
import { ContactService } from "../../../src/gen/records/v1/contacts_pb.ts";
import type { WireResponse } from "../../fixtures/clients/idempotent-writes.ts";

/** The operations that take an idempotency key. */
export type Operation = "create" | "append";

/** The wires that the drills of exactly once speak. */
export type SpokenWire = "REST" | "gRPC";

const rpcs = { create: ContactService.method.createContact, append: ContactService.method.appendContactNote };
// The provider is in links to documents, which neither response has.
const renderBody = createRenderBody("none");

/** The REST body of a successful response. */
export function bodyOf(operation: Operation, wire: SpokenWire, { text }: Pick<WireResponse, "text">): string {
  return wire === "REST" ? text : renderBody(rpcs[operation], fromJson(rpcs[operation].output, JSON.parse(text)));
}

/** The body of a contact as it has to be read: as it was created, with these notes, each as its response showed it. */
export function readBack(created: string, notes: readonly string[]): string {
  const data = (body: string): object => (JSON.parse(body) as { data: object }).data;
  return JSON.stringify({ data: { ...data(created), notes_timeline: notes.map(data) } });
}
