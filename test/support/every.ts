// Every record endpoint with a request that is right for an account which has a contact and a session.
import type { TestService } from "../../fixtures/service/service.ts";
import type { Client } from "./client.ts";
import { newClient } from "./client.ts";
import type { Rpc } from "../../fixtures/clients/wires.ts";

/** A request to an endpoint. */
export interface Request {
  readonly rpc: Rpc;
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The status that answers it. */
  readonly success: 200 | 201;
}

/** An account with a contact and a session. */
export interface Owner extends Client {
  readonly contact: string;
  readonly session: string;
}

export async function newOwner(
  service: TestService,
  access: "read_write" | "read_only" = "read_write",
): Promise<Owner> {
  const client = await newClient(service, access);
  const contact = await client.put.contact({ full_name: "Ann Lee", email: "ann@example.com" });
  const session = await client.put.session({
    title: "Budget",
    contact_id: contact,
    session_date: "2026-01-31T09:30:00Z",
  });
  await client.put.contactNotes({ contact_id: contact, content: "Asked for a budget", source: "import" });
  return { ...client, contact, session };
}

/** The six reads. */
export function reads({ contact, session }: { readonly contact: string; readonly session: string }): Request[] {
  return [
    { rpc: "SearchContacts", method: "GET", path: "/v1/contacts?query=ann", success: 200 },
    { rpc: "GetContact", method: "GET", path: `/v1/contacts/${contact}`, success: 200 },
    { rpc: "ListSessions", method: "GET", path: "/v1/sessions", success: 200 },
    { rpc: "GetSession", method: "GET", path: `/v1/sessions/${session}`, success: 200 },
    { rpc: "GetSessionTranscript", method: "GET", path: `/v1/sessions/${session}/transcript`, success: 200 },
    { rpc: "SearchNotes", method: "GET", path: "/v1/notes?query=budget", success: 200 },
  ];
}

/** The three writes. */
export function writes({ contact }: { readonly contact: string }): Request[] {
  return [
    { rpc: "CreateContact", method: "POST", path: "/v1/contacts", body: { full_name: "Bo" }, success: 201 },
    { rpc: "UpdateContact", method: "PATCH", path: `/v1/contacts/${contact}`, body: { phone: "1" }, success: 200 },
    {
      rpc: "AppendContactNote",
      method: "POST",
      path: `/v1/contacts/${contact}/notes`,
      body: { content: "c" },
      success: 201,
    },
  ];
}
