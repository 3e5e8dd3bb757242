// Renders the response of any wire as a REST body, so that responses can be compared byte by byte.
import { fromJson } from "@bufbuild/protobuf";
import { createRenderBody } from "../../../src/http/response.ts";
import { ContactService } from "../../../src/gen/records/v1/contacts_pb.ts";
import type { WireResponse } from "../../fixtures/clients/idempotent-writes.ts";

/** The operations that take an idempotency key. */
export type Operation = "create" | "append";

/** The wires of the exactly-once drills. */
export type SpokenWire = "REST" | "gRPC";

const rpcs = { create: ContactService.method.createContact, append: ContactService.method.appendContactNote };
// The provider only appears in document links, which neither response has.
const renderBody = createRenderBody("none");

/** The REST body of a successful response. */
export function bodyOf(operation: Operation, wire: SpokenWire, { text }: Pick<WireResponse, "text">): string {
  return wire === "REST" ? text : renderBody(rpcs[operation], fromJson(rpcs[operation].output, JSON.parse(text)));
}

/** The expected body of a contact: as its create response, with the notes from their append responses. */
export function readBack(created: string, notes: readonly string[]): string {
  const data = (body: string): object => (JSON.parse(body) as { data: object }).data;
  return JSON.stringify({ data: { ...data(created), notes_timeline: notes.map(data) } });
}
