// Every record endpoint with a valid request for an account that has a contact and a session.
import type { TestService } from "../fixtures/service/service.ts";
import type { Client } from "./client.ts";
import { newClient } from "./client.ts";
import type { RestRequest } from "../fixtures/clients/operations.ts";
import { restRequests } from "../fixtures/clients/operations.ts";
import type { Named } from "../fixtures/clients/wires.ts";

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

/** Every read, from the generated routes. */
export function reads(of: Named): RestRequest[] {
  return restRequests(of, false);
}

/** Every write, from the generated routes. */
export function writes(of: Named): RestRequest[] {
  return restRequests(of, true);
}
