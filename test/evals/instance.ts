// The instance for the evals: a service with the demo records, and an assistant with a token for their account.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { randomUUID } from "node:crypto";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import { fillDemo } from "../fixtures/records/demo.ts";
import { childToken } from "../fixtures/service/child.ts";
import { withFixture } from "../fixtures/service/fixture.ts";
import { rest } from "../fixtures/service/service.ts";
import { accessToken, offerIntrospection } from "../fixtures/sign-in/assistants.ts";
import { startFakeProvider } from "../fixtures/sign-in/fake-provider.ts";
import type { Records } from "./records.ts";
import { recordsAt } from "./records.ts";

export interface Demo {
  readonly client: Client;
  /** The URL of the instance, an API key of the account, and the assistant's access token. */
  readonly base: string;
  readonly key: string;
  readonly token: string;
  readonly records: Records;
}

/** Starts the instance with the demo records as of `now`, runs the work, and stops everything. */
export async function withDemo<T>(work: (demo: Demo) => Promise<T>, now = new Date()): Promise<T> {
  const provider = await startFakeProvider();
  offerIntrospection(provider, () => ({ active: true }));
  try {
    const options = { members: 1, instances: 1, environment: provider.settings() } as const;
    return await withFixture(options, async ({ services, instances }) => {
      const [instance] = instances;
      const subject = randomUUID();
      const { _id } = await services.accounts.create(`${subject}@example.com`, true);
      await services.accounts.link(_id, { issuer: provider.issuer, subject });
      const internalCall = (rpc: string, body: unknown): ReturnType<typeof rest> =>
        rest(`http://127.0.0.1:${instance?.internalPort ?? 0}`, `/${rpc}`, { key: childToken, body });
      const records = recordsAt(await fillDemo(ingestInto({ internalCall }, _id.toHexString()), now), now);
      const client = new Client({ name: "evals", version: "1" });
      const { secret: key } = await services.apiKeys.create(_id, "read_write");
      const base = instance?.base ?? "";
      const token = await accessToken(provider, { sub: subject, exp: Math.floor(Date.now() / 1_000) + 3_600 });
      const headers = { Authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }));
      try {
        return await work({ client, base, key, token, records });
      } finally {
        await client.close();
      }
    });
  } finally {
    await provider.stop();
  }
}
