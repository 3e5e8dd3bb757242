// The provider's clients: the dashboard, which is the service's own client, and the rules for clients that register.
import { randomBytes } from "node:crypto";
import type { AllClientMetadata } from "oidc-provider";
import { isLoopback } from "../../config/loopback.ts";

export const DASHBOARD_ID = "records-dashboard";

/** The dashboard's client. It cannot sign users in until it knows the dashboard's address. */
export type Dashboard = ReturnType<typeof createDashboard>;

/** Creates the dashboard's client with a new secret, which only this process needs. */
export function createDashboard() {
  const secret = randomBytes(32).toString("base64url");
  let base: string | undefined;
  const backchannelLogoutUri = (): string | undefined =>
    base === undefined ? undefined : `${base}/sign-out/back-channel`;
  return {
    id: DASHBOARD_ID,
    secret,
    backchannelLogoutUri,
    /** Returns the metadata, or undefined until the dashboard's address is known. */
    metadata(): AllClientMetadata | undefined {
      if (base === undefined) return undefined;
      return {
        client_id: DASHBOARD_ID,
        client_secret: secret,
        client_name: "Records dashboard",
        application_type: "web",
        token_endpoint_auth_method: "client_secret_basic",
        grant_types: ["authorization_code"],
        response_types: ["code"],
        redirect_uris: [`${base}/sign-in/callback`],
        post_logout_redirect_uris: [`${base}/`],
        backchannel_logout_uri: backchannelLogoutUri(),
        backchannel_logout_session_required: true,
        id_token_signed_response_alg: "RS256",
      };
    },
    moveTo(baseUrl: string): void {
      base = baseUrl.replace(/\/$/, "");
    },
  };
}

/** Returns the reason why a redirect URI is rejected, or undefined: codes must not cross a network in plain text. */
export function rejectionOfRedirect(uri: string): string | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, hostname } = new URL(uri);
  if (protocol !== "http:" || isLoopback(hostname)) return undefined;
  return "redirect_uris with http are for localhost only";
}
