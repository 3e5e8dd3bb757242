// Checks the identity provider: its metadata, its keys, whether it knows us, and what it offers beside.
import { isLoopback } from "../../loopback.ts";
import type { Finding, Verdict } from "./check.ts";
import { check, fault, note, ok, warning } from "./check.ts";
import { asClient, signInPage } from "./client.ts";
import { getJson, isObject } from "./request.ts";
import type { ProviderSettings, Surroundings } from "./surroundings.ts";
import { signatures } from "../../sign-in/provider.ts";

type Metadata = Readonly<Record<string, unknown>>;

export async function checkProvider({ provider, unusable, clocks, config, baseUrl }: Surroundings): Promise<Finding[]> {
  const name = "provider.discovery";
  if (unusable("OIDC_ISSUER")) return [{ check: name, ...note("Not checked, as OIDC_ISSUER is wrong.") }];
  if (provider === undefined)
    return [
      {
        check: name,
        ...(config.mongodbUri === undefined
          ? note(
              "The development provider runs within the service, and does not run.",
              "Start the service (npm start).",
            )
          : note("There is none (OIDC_ISSUER): sign-in and MCP are off.")),
      },
    ];
  let metadata: Metadata = {};
  const address = `${provider.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const discovery = await check(
    name,
    async () => {
      const sent = clocks.now();
      const { body, headers } = await getJson(address);
      clocks.read(
        "clock.provider",
        "The identity provider's clock",
        Date.parse(headers.get("date") ?? ""),
        sent,
        clocks.now(),
      );
      if (!isObject(body)) throw new Error("it sent something else than a JSON object");
      metadata = body;
      return ok(`${address} responds.`);
    },
    ({ message }: Error) =>
      fault(
        `The identity provider's metadata cannot be had at ${address}: ${message}.`,
        "Correct OIDC_ISSUER (the provider tells it as `issuer`), or let the service through to it; until then no one can sign in.",
      ),
  );
  if (discovery.status === "fault") return [discovery];
  return [
    discovery,
    ...(await Promise.all([
      ...requirements(provider, metadata),
      ...(unusable("OIDC_CLIENT_SECRET") ? [] : known(provider, metadata, baseUrl)),
      ...offers(metadata),
    ])),
  ];
}

/** What nobody can sign in without. */
function requirements(provider: ProviderSettings, metadata: Metadata): Promise<Finding>[] {
  return [
    check("provider.issuer", () => issuer(provider.issuer, metadata["issuer"])),
    check("provider.endpoints", () => endpoints(metadata)),
    check("provider.code_flow", () => codeFlow(metadata)),
    check("provider.pkce", () => pkce(metadata)),
    check(
      "provider.keys",
      () => keys(metadata),
      ({ message }: Error) =>
        fault(
          `The provider's keys cannot be had at ${String(metadata["jwks_uri"])}: ${message}.`,
          "Let the service through to that address; without keys no one can sign in.",
        ),
    ),
  ];
}

/** What the provider may do beside. */
function offers(metadata: Metadata): (Finding | Promise<Finding>)[] {
  return [
    offer(
      "registration",
      metadata["registration_endpoint"] ?? metadata["client_id_metadata_document_supported"],
      "Assistants can register themselves",
      "Assistants cannot register themselves: each needs a client that is made at the provider by hand.",
      "Turn on dynamic client registration, or give people a client id to type in.",
    ),
    offer(
      "introspection",
      metadata["introspection_endpoint"],
      "A token that is revoked there is refused within 5 seconds (introspection)",
      "There is no introspection: a token that is revoked at the provider is refused only when it expires.",
      "Turn on RFC 7662, or let access tokens live for minutes.",
    ),
    check("provider.auth_time", () => authTime(metadata["claims_supported"])),
    offer(
      "revocation",
      metadata["revocation_endpoint"],
      "Signing out reaches the provider without the browser (revocation)",
      "There is no revocation endpoint: the provider learns of a sign-out from the browser only.",
      "Turn on RFC 7009.",
    ),
    offer(
      "end_session",
      metadata["end_session_endpoint"],
      "Signing out ends the provider's session as well",
      "Signing out leaves the provider's own session open.",
      "Turn on RP-initiated logout.",
    ),
    offer(
      "back_channel_logout",
      metadata["backchannel_logout_supported"],
      "Sessions that end there end here (back-channel logout)",
      "There is no back-channel logout: a session that ends at the provider goes on here.",
      "Turn it on, with <BASE_URL>/sign-out/back-channel.",
    ),
  ];
}

/** Whether the provider knows us: by our secret, and by where we send people back to. */
function known(
  { issuer: address, client }: ProviderSettings,
  metadata: Metadata,
  baseUrl: string | undefined,
): Promise<Finding>[] {
  if (client === undefined)
    return [
      check("provider.client", () =>
        note("This is the development provider: the service makes its client's secret anew at each start."),
      ),
    ];
  const options = { issuer: address, clientId: client.id, clientSecret: client.secret };
  // The service goes no further with metadata of another issuer, so nothing of it can be tried.
  if (!sameIssuer(address, metadata["issuer"]))
    return [check("provider.client", () => note("Not checked, as the issuer is not the one that is configured."))];
  return [
    check("provider.client", () => asClient(options, `${baseUrl ?? "http://localhost"}/sign-in/callback`, metadata)),
    ...(baseUrl === undefined
      ? []
      : [check("provider.redirect", () => signInPage(options, `${baseUrl}/sign-in/callback`))]),
  ];
}

function offer(name: string, offered: unknown, ifSo: string, ifNot: string, mend: string): Promise<Finding> {
  return check(`provider.${name}`, () =>
    offered === undefined || offered === false ? note(ifNot, mend) : ok(`${ifSo}.`),
  );
}

function sameIssuer(configured: string, told: unknown): boolean {
  return typeof told === "string" && told.replace(/\/$/, "") === configured.replace(/\/$/, "");
}

function issuer(configured: string, told: unknown): Verdict {
  if (told === configured) return ok(`It calls itself ${configured}, byte for byte as OIDC_ISSUER.`);
  if (sameIssuer(configured, told))
    return warning(
      `It calls itself ${String(told)}, and OIDC_ISSUER is ${configured}: a slash at the end differs.`,
      `Set OIDC_ISSUER=${String(told)}: some assistants compare byte for byte.`,
    );
  return fault(
    `It calls itself ${JSON.stringify(told ?? null)}, and OIDC_ISSUER is ${configured}: no sign-in is taken from another issuer.`,
    typeof told === "string"
      ? `Set OIDC_ISSUER=${told}, if that is the provider that is meant.`
      : "Correct OIDC_ISSUER.",
  );
}

function endpoints(metadata: Metadata): Verdict {
  const needed = ["authorization_endpoint", "token_endpoint", "jwks_uri"];
  const missing = needed.filter((name) => !URL.canParse(text(metadata[name])));
  if (missing.length > 0)
    return fault(`It tells no ${missing.join(", ")}.`, "Correct the provider's metadata, or OIDC_ISSUER.");
  const clear = Object.entries(metadata).filter(
    ([name, url]) => /(_endpoint|_uri)$/.test(name) && URL.canParse(text(url)) && inTheClear(new URL(text(url))),
  );
  if (clear.length > 0)
    return fault(
      `Not https: ${clear.map(([name, url]) => `${name} ${text(url)}`).join(", ")}.`,
      "Have the provider tell https addresses; behind a proxy it must be told its public address.",
    );
  return ok("Its endpoints are there, and https where they are not on this machine.");
}

function inTheClear({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isLoopback(hostname);
}

function codeFlow(metadata: Metadata): Verdict {
  const types = list(metadata["response_types_supported"]);
  // What is left out means authorization_code and implicit (OpenID Connect Discovery §3).
  const grants =
    metadata["grant_types_supported"] === undefined ? ["authorization_code"] : list(metadata["grant_types_supported"]);
  if (types.includes("code") && grants.includes("authorization_code"))
    return ok("It offers the authorization code flow.");
  return fault(
    `It does not offer the authorization code flow (response types ${types.join(", ") || "none"}; grants ${grants.join(", ") || "none"}).`,
    "Turn on response type `code` and grant `authorization_code` at the provider.",
  );
}

function pkce(metadata: Metadata): Verdict {
  const methods = list(metadata["code_challenge_methods_supported"]);
  if (methods.includes("S256")) return ok("It offers PKCE with S256.");
  return fault(
    `Its metadata do not offer PKCE with S256 (code_challenge_methods_supported: ${methods.join(", ") || "not there"}): assistants refuse to sign in.`,
    "Turn on PKCE with S256 at the provider, and have its metadata say so.",
  );
}

/** Only `auth_time` shows that a sign-in is later than a sign-out. */
function authTime(claims: unknown): Verdict {
  if (list(claims).includes("auth_time")) return ok("It says when a person signed in (auth_time).");
  const advice = "Have the provider put auth_time into ID tokens, and into access tokens or introspection responses.";
  if (!Array.isArray(claims))
    return note(
      "Its metadata do not say whether its tokens have auth_time, the time of the sign-in: after a sign-out, an assistant's token without it is rejected.",
      advice,
    );
  return warning(
    "According to its metadata its tokens have no auth_time, the time of the sign-in: a person who has signed out cannot sign in again, at the dashboard or with an assistant.",
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
      `None of its ${all.length} keys is of use: needed is one to sign with ${signatures.join(", ")}.`,
      "Give the provider such a key.",
    );
  if (signing.length > 0 && taken.length === 0)
    return fault(
      `It signs with ${signing.join(", ")}, of which none is taken.`,
      `Have it sign with one of ${signatures.join(", ")}.`,
    );
  return ok(
    `${usable.length} ${usable.length === 1 ? "key" : "keys"} of use${taken.length === 0 ? "" : `; it signs with ${taken.join(", ")}`}.`,
  );
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
