// The client program for both TypeScript SDKs, which have the same interface. Arguments: v1 or v2, the era, the
// address, and the SDK's modules.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

type Library = Pick<
  typeof import("@modelcontextprotocol/client"),
  "Client" | "StreamableHTTPClientTransport" | "UnauthorizedError"
>;
type Connection = InstanceType<Library["StreamableHTTPClientTransport"]>;

const [, , generation, era, url = "", ...modules] = process.argv;
const parts: unknown[] = await Promise.all(modules.map((one) => import(one)));
const library = Object.assign({}, ...parts) as Library;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const callback = "http://127.0.0.1:9/callback";
let leadsTo: URL | undefined;
let registered: StoredOAuthClientInformation | undefined;
let held: StoredOAuthTokens | undefined;
let verifier = "";
let discovered: OAuthDiscoveryState | undefined;
const authProvider: OAuthClientProvider = {
  redirectUrl: callback,
  clientMetadata: {
    client_name: `TypeScript SDK ${generation}`,
    redirect_uris: [callback],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => registered,
  saveClientInformation(information) {
    registered = information;
  },
  tokens: () => held,
  saveTokens(tokens) {
    held = tokens;
  },
  redirectToAuthorization(page) {
    leadsTo = page;
  },
  saveCodeVerifier(text) {
    verifier = text;
  },
  codeVerifier: () => verifier,
  discoveryState: () => discovered,
  saveDiscoveryState(state) {
    discovered = state;
  },
  invalidateCredentials(which) {
    if (which === "tokens" || which === "all") held = undefined;
    if (which === "client" || which === "all") registered = undefined;
  },
};

let client = newClient();
let connection: Connection;

function newClient(): InstanceType<Library["Client"]> {
  const options = era === "modern" ? { versionNegotiation: { mode: "auto" as const } } : {};
  return new library.Client({ name: "records-clients", version: "1" }, options);
}

async function connect(): Promise<string | undefined> {
  await client.close().catch(() => undefined);
  client = newClient();
  connection = new library.StreamableHTTPClientTransport(new URL(url), { authProvider });
  await client.connect(connection);
  return generation === "v1" ? connection.protocolVersion : client.getNegotiatedProtocolVersion();
}

/** Does the work, and repeats it after a sign-in if the SDK requests one. */
async function withSignIn<T>(work: () => Promise<T>): Promise<T> {
  leadsTo = undefined;
  try {
    return await work();
  } catch (error) {
    const page = leadsTo as URL | undefined;
    if (!(error instanceof library.UnauthorizedError) || page === undefined) throw error;
    say({ authorize: page.href });
    const { value } = await lines.next();
    const { searchParams } = new URL((JSON.parse(value ?? "{}") as { callback: string }).callback);
    const code = searchParams.get("code");
    if (code === null) throw new Error(`no sign-in: ${searchParams.get("error")}`, { cause: error });
    await (generation === "v1" ? connection.finishAuth(code) : connection.finishAuth(searchParams));
    return await work();
  }
}

async function run(command: string, name = "", given: Record<string, unknown> = {}): Promise<unknown> {
  switch (command) {
    case "connect":
      return withSignIn(connect);
    case "list":
      return withSignIn(async () => (await client.listTools()).tools.map((tool) => tool.name));
    case "call":
      return withSignIn(async () => {
        const { isError, structuredContent } = await client.callTool({ name, arguments: given });
        return { isError: isError === true, structured: structuredContent ?? {} };
      });
    case "expire":
      // The SDKs learn from a 401 that a token has expired, so any token that the service rejects will do.
      if (held !== undefined) held = { ...held, access_token: "expired" };
      return null;
    default:
      return held === undefined ? "" : createHash("sha256").update(held.access_token).digest("hex");
  }
}

for (;;) {
  const { done, value } = await lines.next();
  if (done === true) break;
  const {
    command,
    name,
    arguments: given,
  } = JSON.parse(value) as {
    command: string;
    name?: string;
    arguments?: Record<string, unknown>;
  };
  try {
    say({ result: await run(command, name, given) });
  } catch (error) {
    say({ error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  }
}
await client.close();
process.exit();
