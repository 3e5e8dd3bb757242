// Checks the identity provider: its metadata, its keys, the service's client, and optional features.
import { isLoopback } from "../../config/loopback.ts";
import type { Finding, Verdict } from "./check.ts";
import { check, fault, note, ok, unchecked, warning } from "./check.ts";
import { asClient, introspects, pkce, signInPage } from "./client.ts";
import { getJson, isObject } from "./request.ts";
import type { ProviderSettings, DoctorContext } from "./doctor-context.ts";
import { isSameIssuer } from "../../sign-in/issuer.ts";
import { signatures } from "../../sign-in/provider.ts";

type Metadata = Readonly<Record<string, unknown>>;

export async function checkProvider({
  provider,
  unusable,
  clocks,
  config,
  baseUrl,
}: DoctorContext): Promise<Finding[]> {
  const name = "provider.discovery";
  if (unusable("OIDC_ISSUER")) return unchecked(name, "Not checked, because OIDC_ISSUER is invalid.");
  if (provider === undefined)
    return config.mongodbUri === undefined
      ? unchecked(
          name,
          "The development provider runs within the service, which does not run.",
          "Start the service (npm start).",
        )
      : unchecked(name, "OIDC_ISSUER is not set: sign-in and MCP are off.");
  let metadata: Metadata = {};
  const address = `${provider.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const discovery = await check(
    name,
    async () => {
      const sent = clocks.now();
      const { body, headers } = await getJson(address);
      clocks.read("clock.provider", "The identity provider's clock", Date.parse(headers.get("date") ?? ""), sent);
      if (!isObject(body)) throw new Error("the response is not a JSON object");
      metadata = body;
      return ok(`${address} responds.`);
    },
    ({ message }: Error) =>
      fault(
        `The identity provider's metadata cannot be read at ${address}: ${message}.`,
        "Correct OIDC_ISSUER (it is `issuer` in the provider's metadata), or give the service access to the provider. Until then, nobody can sign in.",
      ),
  );
  if (discovery.status === "fault") return [discovery];
  return [
    discovery,
    ...(await Promise.all([
      ...requirements(provider, metadata),
      ...(unusable("OIDC_CLIENT_SECRET") ? [] : known(provider, metadata, baseUrl)),
      introspection(provider, metadata, unusable("OIDC_CLIENT_SECRET")),
      ...offers(metadata),
    ])),
  ];
}

/** Checks the features that every sign-in needs. */
function requirements(provider: ProviderSettings, metadata: Metadata): Promise<Finding>[] {
  return [
    check("provider.issuer", () => issuer(provider.issuer, metadata["issuer"])),
    check("provider.endpoints", () => endpoints(metadata)),
    check("provider.pkce", () => pkce(list(metadata["code_challenge_methods_supported"]))),
    check(
      "provider.keys",
      () => keys(metadata),
      ({ message }: Error) =>
        fault(
          `The provider's keys cannot be read at ${String(metadata["jwks_uri"])}: ${message}.`,
          "Give the service access to that address. Without the keys, nobody can sign in.",
        ),
    ),
  ];
}

/** Checks the optional features of the provider. */
function offers(metadata: Metadata): (Finding | Promise<Finding>)[] {
  return [
    offer(
      "registration",
      metadata["registration_endpoint"] ?? metadata["client_id_metadata_document_supported"],
      "Its metadata offers assistants to register by themselves; whether it accepts them is part of the sign-in of assistants",
      "Assistants cannot register by themselves: create a client for each at the provider.",
      "Turn on dynamic client registration, or give users a client id to enter.",
    ),
    check("provider.auth_time", () => authTime(metadata["claims_supported"])),
    ...(list(metadata["scopes_supported"]).includes("offline_access")
      ? [
          check("provider.offline_access", () =>
            note(
              "The provider offers offline_access, which assistants then request. If such a session outlasts a sign-out, its tokens are rejected here until the user connects the assistant again.",
              "Do not offer offline_access to assistants, or configure the provider to end these sessions at a sign-out.",
            ),
          ),
        ]
      : []),
    offer(
      "revocation",
      metadata["revocation_endpoint"],
      "A sign-out reaches the provider without the browser (revocation)",
      "The provider has no revocation endpoint: it learns of a sign-out only from the browser.",
      "Turn on RFC 7009.",
    ),
    offer(
      "end_session",
      metadata["end_session_endpoint"],
      "A sign-out also ends the session at the provider",
      "A sign-out leaves the session at the provider open.",
      "Turn on RP-initiated logout.",
    ),
    offer(
      "back_channel_logout",
      metadata["backchannel_logout_supported"],
      "A session that ends at the provider also ends here (back-channel logout)",
      "The provider does not support back-channel logout: a session that ends there continues here.",
      "Turn it on, with the address <BASE_URL>/sign-out/back-channel.",
    ),
  ];
}

/** Checks the service's client at the provider: its secret and its redirect URI. */
function known(
  { issuer: address, client }: ProviderSettings,
  metadata: Metadata,
  baseUrl: string | undefined,
): Promise<Finding>[] {
  if (client === undefined)
    return [
      check("provider.client", () =>
        note("This is the development provider: the service creates a new client secret at each start."),
      ),
    ];
  const options = { issuer: address, clientId: client.id, clientSecret: client.secret };
  // The service rejects metadata of another issuer, so its client cannot be checked.
  if (!isSameIssuer(address, metadata["issuer"]))
    return [check("provider.client", () => note("Not checked, because the issuer differs from OIDC_ISSUER."))];
  return [
    check("provider.client", () => asClient(options, `${baseUrl ?? "http://localhost"}/sign-in/callback`)),
    ...(baseUrl === undefined
      ? []
      : [check("provider.redirect", () => signInPage(options, `${baseUrl}/sign-in/callback`))]),
  ];
}

/**
 * Checks whether the provider introspects access tokens for this service. Its metadata does not show for which clients
 * it does.
 */
function introspection(
  { issuer: address, client }: ProviderSettings,
  metadata: Metadata,
  isSecretUnusable: boolean,
): Promise<Finding> {
  return check("provider.introspection", () => {
    if (metadata["introspection_endpoint"] === undefined)
      return note(
        "The provider does not support introspection: a token that is revoked there is valid until it expires, and every access token that is not a JWT is rejected.",
        "Turn on RFC 7662. Otherwise, configure the provider to issue access tokens as JWTs (RFC 9068) that expire within minutes.",
      );
    if (client === undefined) return note("This is the development provider: it introspects for the service.");
    if (isSecretUnusable) return note("Not checked, because OIDC_CLIENT_SECRET is invalid.");
    if (!isSameIssuer(address, metadata["issuer"]))
      return note("Not checked, because the issuer differs from OIDC_ISSUER.");
    return introspects({ issuer: address, clientId: client.id, clientSecret: client.secret });
  });
}

function offer(name: string, offered: unknown, ifSo: string, ifNot: string, fix: string): Promise<Finding> {
  return check(`provider.${name}`, () =>
    offered === undefined || offered === false ? note(ifNot, fix) : ok(`${ifSo}.`),
  );
}

function issuer(configured: string, reported: unknown): Verdict {
  if (reported === configured) return ok(`Its issuer is ${configured}, exactly as OIDC_ISSUER.`);
  if (isSameIssuer(configured, reported))
    return warning(
      `Its issuer is ${String(reported)}, but OIDC_ISSUER is ${configured}: the slash at the end differs.`,
      `Set OIDC_ISSUER=${String(reported)}: some assistants compare it character for character.`,
    );
  return fault(
    `Its issuer is ${JSON.stringify(reported ?? null)}, but OIDC_ISSUER is ${configured}: the service rejects sign-ins from another issuer.`,
    typeof reported === "string"
      ? `If this is the right provider, set OIDC_ISSUER=${reported}.`
      : "Correct OIDC_ISSUER.",
  );
}

function endpoints(metadata: Metadata): Verdict {
  const needed = ["authorization_endpoint", "token_endpoint", "jwks_uri"];
  const missing = needed.filter((name) => !URL.canParse(text(metadata[name])));
  if (missing.length > 0)
    return fault(`Its metadata lacks ${missing.join(", ")}.`, "Correct the provider's metadata, or OIDC_ISSUER.");
  const clear = Object.entries(metadata).filter(
    ([name, url]) => /(_endpoint|_uri)$/.test(name) && URL.canParse(text(url)) && inTheClear(new URL(text(url))),
  );
  if (clear.length > 0)
    return fault(
      `These are not https: ${clear.map(([name, url]) => `${name} ${text(url)}`).join(", ")}.`,
      "Configure the provider to use https addresses. Behind a proxy, set its public address.",
    );
  return ok("It has every endpoint, and uses https outside this machine.");
}

function inTheClear({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isLoopback(hostname);
}

/** Checks for `auth_time`, the only claim that shows whether a sign-in is later than a sign-out. */
function authTime(claims: unknown): Verdict {
  if (list(claims).includes("auth_time")) return ok("It reports when a user signed in (auth_time).");
  const advice =
    "Configure the provider to add auth_time to ID tokens, and to access tokens or introspection responses.";
  if (!Array.isArray(claims))
    return note(
      "Its metadata does not say whether its tokens have auth_time, the time of the sign-in. After a sign-out, assistants' tokens without it are rejected.",
      advice,
    );
  return warning(
    "According to its metadata, its tokens have no auth_time, the time of the sign-in. After a sign-out, a user cannot sign in again, on the dashboard or with an assistant.",
    advice,
  );
}

async function keys(metadata: Metadata): Promise<Verdict> {
  const { body } = await getJson(text(metadata["jwks_uri"]));
  const all = isObject(body) && Array.isArray(body["keys"]) ? (body["keys"] as unknown[]).filter(isObject) : [];
  const usable = all.filter(
    ({ kty, use, alg }) =>
      ["RSA", "EC", "OKP"].includes(text(kty)) &&
      use !== "enc" &&
      (alg === undefined || signatures.includes(text(alg))),
  );
  const signing = list(metadata["id_token_signing_alg_values_supported"]);
  const taken = signing.filter((alg) => signatures.includes(alg));
  if (usable.length === 0)
    return fault(
      `None of its ${all.length} keys can be used. It needs a key to sign with ${signatures.join(", ")}.`,
      "Add such a key at the provider.",
    );
  if (signing.length > 0 && taken.length === 0)
    return fault(
      `It signs with ${signing.join(", ")}, and the service accepts none of them.`,
      `Configure it to sign with one of ${signatures.join(", ")}.`,
    );
  return ok(
    `${usable.length} ${usable.length === 1 ? "usable key" : "usable keys"}${taken.length === 0 ? "" : `; it signs with ${taken.join(", ")}`}.`,
  );
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
