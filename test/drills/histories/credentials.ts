// Clients that rotate and revoke API keys and sign out, then present the ended credentials to every instance.
import { setTimeout as sleep } from "node:timers/promises";
import { send } from "../../fixtures/sign-in/assistants.ts";
import { sendRequest } from "../../fixtures/sign-in/fixture.ts";
import type { RestResponse } from "../../fixtures/service/service.ts";
import { rest } from "../../fixtures/service/service.ts";
import { httpResult } from "./calls.ts";
import type { History, Operation } from "./operation.ts";
import type { Round } from "./registers.ts";
import type { User, Site } from "./site.ts";

/** A credential with its name in the history. */
interface Credential {
  readonly name: string;
  readonly present: (instance: string) => Promise<RestResponse>;
  /** Whether the public-interface switch applies to it. */
  readonly reads: boolean;
}

/** How many ended credentials are presented repeatedly. */
const presentedAtMost = 6;
const betweenMs = 400;

/** What the owners of the credentials share. */
export interface Owners {
  readonly site: Site;
  readonly history: History;
}

/** Ends credentials one after the other over one instance. Switches to a new user after an unknown outcome. */
export async function owner(
  { site, history }: Owners,
  { running }: Round,
  instance: string,
  users: readonly User[],
): Promise<void> {
  const client = `owner ${instance}`;
  const ended: Credential[] = [];
  const page = (path: string, { cookie }: User, method: string): Promise<RestResponse> => {
    const { port } = new URL(site.instance(instance).base);
    return sendRequest(`${site.instance(instance).base}${path}`, {
      method,
      cookie,
      origin: `http://localhost:${port}`,
      headers: { "Sec-Fetch-Site": "same-origin" },
    });
  };
  const keyCalled = (name: string, key: string): Credential => ({
    name,
    reads: true,
    present: (at) => rest(site.instance(at).base, "/v1/sessions?limit=1", { key }),
  });
  const wire = "rest";

  function present(credential: Credential, at: string): Promise<Operation> {
    return history.record(
      {
        client: `${client} at ${at}`,
        instance: at,
        wire,
        kind: "use",
        credential: credential.name,
        ...(credential.reads && { records: "read" as const }),
      },
      async () => {
        const { status, text } = await credential.present(at);
        return httpResult(status, text, false);
      },
    );
  }
  /** Ends credentials and resolves with the response if it is acknowledged. */
  async function end(
    how: string,
    credentials: readonly Credential[],
    issued: string | undefined,
    call: () => Promise<RestResponse>,
  ): Promise<RestResponse | undefined> {
    let response: RestResponse | undefined;
    // They are used on every instance first, so a stale cache would be noticed.
    await Promise.all(credentials.flatMap((credential) => site.instances.map((at) => present(credential, at))));
    const [first] = credentials;
    const done = await history.record(
      { client, instance, wire, kind: "end", value: how, ...(first && { credential: first.name }) },
      async () => {
        response = await call();
        const result = httpResult(response.status, response.text, true);
        return { ...result, ...(issued !== undefined && result.outcome === "ok" && { id: issued }) };
      },
    );
    if (done.outcome !== "ok") return undefined;
    for (const other of credentials.slice(1)) history.operations.push({ ...done, credential: other.name });
    ended.push(...credentials);
    ended.splice(0, ended.length - presentedAtMost);
    return response;
  }

  /** The actions of a user. Stops after an unknown outcome. */
  async function live(user: User): Promise<void> {
    const [old, fresh] = [`key of ${user.name}`, `new key of ${user.name}`];
    const rotated = await end("rotation", [keyCalled(old, user.key)], fresh, () =>
      page("/v1/api-key/rotate", user, "POST"),
    );
    if (rotated === undefined) return;
    const key = keyCalled(fresh, (rotated.body as { data: { key: string } }).data.key);
    await Promise.all(site.instances.map((instance) => present(key, instance)));
    await sleep(betweenMs);
    if ((await end("revocation", [key], undefined, () => page("/v1/api-key", user, "DELETE"))) === undefined) return;
    await sleep(betweenMs);
    const cookie: Credential = {
      name: `cookie of ${user.name}`,
      reads: false,
      present: (at) => sendRequest(`${site.instance(at).base}/v1/audit-log`, { cookie: user.cookie }),
    };
    const token: Credential = {
      name: `token of ${user.name}`,
      reads: true,
      present: (at) => send(site.instance(at).base, `Bearer ${user.token}`),
    };
    await end("sign-out", [cookie, token], undefined, () => page("/sign-out", user, "POST"));
    await sleep(betweenMs);
  }

  async function presentAgain(at: string): Promise<void> {
    while (running()) {
      const credential = ended[Math.floor(Math.random() * ended.length)];
      if (credential !== undefined) await present(credential, at);
      await sleep(150);
    }
  }
  async function liveAll(): Promise<void> {
    for (const user of users) if (running()) await live(user);
  }
  await Promise.all([liveAll(), ...site.instances.map(presentAgain)]);
}
