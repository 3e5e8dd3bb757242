// A user signed in to the dashboard without an identity provider: the session is stored directly.
import { randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import type { RestResponse, RestCall, TestService } from "../fixtures/service/service.ts";
import { rest, testIssuer } from "../fixtures/service/service.ts";
import { storeSession } from "../fixtures/sign-in/stored-session.ts";

/** A signed-in user, and what their browser sends. */
export interface TestUser {
  /** The account; undefined for a user without one. */
  readonly accountId: string | undefined;
  readonly subject: string;
  readonly email: string;
  readonly cookie: string;
  readonly origin: string;
  /** A call like the dashboard's. Headers given here override its headers. */
  call(path: string, call?: RestCall, at?: TestService): Promise<RestResponse>;
}

export interface UserOptions {
  readonly account?: boolean;
  readonly enrolled?: boolean;
}

/** Creates a user, by default with an enrolled account. */
export async function newUser(
  service: TestService,
  { account = true, enrolled = true }: UserOptions = {},
): Promise<TestUser> {
  const subject = randomUUID();
  const email = `${subject}@example.com`;
  const { accounts } = service.app.services;
  const created = account ? await accounts.create(email, enrolled) : undefined;
  if (created !== undefined) await accounts.link(created._id, { issuer: testIssuer, subject });
  return { ...(await openSession(service, subject, email)), accountId: created?._id.toHexString() };
}

export async function openSession(
  service: TestService,
  subject: string,
  email: string,
  sid?: string,
): Promise<Omit<TestUser, "accountId">> {
  const cookie = await storeSession(service.app.client.db(), { issuer: testIssuer, subject, sid, email });
  const origin = new URL(service.app.baseUrl).origin;
  return {
    subject,
    email,
    cookie,
    origin,
    call(path, call = {}, at = service) {
      // Each instance of a test has its own address.
      const headers: Record<string, string> = {
        Cookie: cookie,
        Origin: new URL(at.app.baseUrl).origin,
        "Sec-Fetch-Site": "same-origin",
        ...call.headers,
      };
      // An empty value omits the header.
      return rest(at.base, path, {
        ...call,
        headers: Object.fromEntries(Object.entries(headers).filter(([, sent]) => sent !== "")),
      });
    },
  };
}

/** The account id as MongoDB stores it. */
export function accountUuid({ accountId }: TestUser): UUID {
  if (accountId === undefined) throw new Error("the user has no account");
  return UUID.createFromHexString(accountId);
}
