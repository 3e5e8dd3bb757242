// Access tokens that a provider signs, and those that are forged from them.
import { createHmac } from "node:crypto";
import { exportJWK } from "jose";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { accessClaims, accessToken } from "../../fixtures/sign-in/assistants.ts";

export const base64 = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Makes tokens at the provider and at an attacker; both have to run when one is made. */
export function createForge(fake: () => FakeProvider, attacker: () => FakeProvider) {
  const claims = (changes: Record<string, unknown> = {}): ReturnType<typeof accessClaims> =>
    accessClaims(fake(), changes);
  const good = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}): Promise<string> =>
    accessToken(fake(), changes, header);
  /** Signed with a text that everybody knows, or that we share. */
  const hmac = (secret: string | Uint8Array, alg = "HS256"): string => {
    const signed = `${base64({ alg, typ: "at+jwt", kid: fake().key.kid })}.${base64(claims())}`;
    return `${signed}.${createHmac(alg.replace("HS", "sha"), secret).update(signed).digest("base64url")}`;
  };
  const publicJwk = async (): Promise<Record<string, unknown>> => ({
    ...(await exportJWK(fake().key.publicKey)),
    kid: fake().key.kid,
    alg: "RS256",
    use: "sig",
  });
  /** A part of a good token replaced. */
  async function spoilt(change: (parts: [string, string, string]) => string): Promise<string> {
    return change((await good()).split(".") as [string, string, string]);
  }
  const byAttacker = async (header: Record<string, unknown>): Promise<string> =>
    attacker().sign(claims(), { typ: "at+jwt", ...header });

  async function signedText(payload: string): Promise<string> {
    const signed = `${base64({ alg: "RS256", kid: fake().key.kid, typ: "at+jwt" })}.${base64(payload)}`;
    const signature = await crypto.subtle.sign(
      "RSASSA-PKCS1-v1_5",
      fake().key.privateKey as never,
      Buffer.from(signed),
    );
    return `${signed}.${Buffer.from(signature).toString("base64url")}`;
  }

  return { claims, good, hmac, publicJwk, spoilt, byAttacker, signedText };
}
