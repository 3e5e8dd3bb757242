// A lane of the tests: an instance behind a fault injector, with its own account, users and assistant.
import { randomUUID } from "node:crypto";
import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";
import type { Client } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { MongoClient } from "mongodb";
import { BackupService } from "../../../src/gen/records/admin/v1/backup_pb.ts";
import { IngestService } from "../../../src/gen/records/ingest/v1/ingest_pb.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import { accessToken } from "../../fixtures/sign-in/assistants.ts";
import type { Ingest } from "../../fixtures/clients/ingest.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import type { TestAccount, TestService } from "../../fixtures/service/service.ts";
import { startInstance } from "../../fixtures/service/service.ts";
import { storeSession } from "../../fixtures/sign-in/stored-session.ts";
import type { FaultInjector } from "../fault-injector.ts";
import type { FaultProxy } from "./proxy.ts";
import { startFaultProxy } from "./proxy.ts";

/** A user with an account, signed in to the dashboard. */
export interface LaneUser {
  readonly subject: string;
  readonly accountId: string;
  /** The cookie of a session that trials do not end. */
  readonly cookie: string;
  /** Signs in again and returns the cookie. */
  signIn(): Promise<string>;
}

export interface Lane {
  readonly proxy: FaultProxy;
  readonly service: TestService;
  /** Another instance on the same database with intact connections, which prepares trials. */
  readonly whole: TestService;
  readonly fake: FakeProvider;
  readonly streams: Client<typeof IngestService>;
  readonly backup: Client<typeof BackupService>;
  readonly account: TestAccount;
  readonly put: Ingest;
  /** Records of the account that trials do not change. */
  readonly contact: string;
  readonly session: string;
  /** The user with this name, created on first use. */
  user(name: string): Promise<LaneUser>;
  /** An access token for another user's assistant, and that user's records. */
  readonly token: string;
  readonly seen: { readonly accountId: string; readonly contact: string; readonly session: string };
  stop(): Promise<void>;
}

/** Starts a lane on a database with fault injection. */
export async function startLane(injector: FaultInjector, whole: TestService): Promise<Lane> {
  const admin = await MongoClient.connect(injector.mongod.administratorUri);
  const hello = await admin.db("admin").command({ hello: 1 }, { promoteValues: false });
  await admin.close();
  const proxy = await startFaultProxy(injector.mongod.uri, hello);
  const fake = await startFakeProvider();
  const service = await startInstance({ ...injector.mongod, uri: proxy.uri }, injector.redis, fake.settings());

  async function newUser(): Promise<LaneUser> {
    const subject = randomUUID();
    const account = await newOwner(whole, fake.issuer, subject, `${subject}@example.com`);
    const signIn = (): Promise<string> => storeSession(whole.app.client.db(), { issuer: fake.issuer, subject });
    return { subject, accountId: account.toHexString(), cookie: await signIn(), signIn };
  }
  async function records(put: Ingest): Promise<{ contact: string; session: string }> {
    const contact = await put.contact({ full_name: "Ann Lee", email: "ann@example.com" });
    const session = await put.session({ title: "Budget", contact_id: contact, session_date: "2026-01-31T09:30:00Z" });
    await put.contactNotes({ contact_id: contact, content: "Asked for a budget", source: "import" });
    await put.transcript({ session_id: session, transcript: "Ann: hello" });
    return { contact, session };
  }

  const account = await whole.account();
  const put = ingestInto(whole, account.id);
  const assistant = await newUser();
  const users = new Map<string, Promise<LaneUser>>();
  const sessionManager = new Http2SessionManager(service.internal);
  const authorize = `Bearer ${service.serviceToken}`;
  const transport = createGrpcTransport({
    baseUrl: service.internal,
    sessionManager,
    interceptors: [(next) => (request) => (request.header.set("authorization", authorize), next(request))],
  });
  return {
    proxy,
    service,
    whole,
    fake,
    streams: createClient(IngestService, transport),
    backup: createClient(BackupService, transport),
    account,
    put,
    ...(await records(put)),
    user(name) {
      const known = users.get(name) ?? newUser();
      users.set(name, known);
      return known;
    },
    token: await accessToken(fake, { sub: assistant.subject }),
    seen: { accountId: assistant.accountId, ...(await records(ingestInto(whole, assistant.accountId))) },
    async stop() {
      sessionManager.abort();
      await service.stop();
      await Promise.all([proxy.stop(), fake.stop()]);
    },
  };
}
