// Sign-in and consent between the library's own steps, as plain forms.
import type { IncomingMessage } from "node:http";
import type { Grant, Provider } from "oidc-provider";
import type { Endings } from "./endings.ts";
import { showError } from "./notices.ts";
import { documentHost } from "./metadata-documents.ts";
import type { Middleware, PageContext } from "./page.ts";
import type { Users, User } from "./users.ts";
import { showConsent, showSignIn } from "./prompts.ts";
import { readMediaType } from "../../call/negotiation.ts";

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** The result of a form: the address to continue at, or undefined if a page was shown. */
type Outcome = string | undefined;

/**
 * Serves `/interaction/<uid>`. Only that path gets the interaction's cookie, which proves that the interaction belongs
 * to this browser.
 */
export function interactions(provider: Provider, users: Users, ends: Endings): Middleware {
  return async (ctx, next) => {
    const uid = /^\/interaction\/([^/]+)$/.exec(ctx.path)?.[1];
    if (uid === undefined || !["GET", "HEAD", "POST"].includes(ctx.method)) return next();
    const interaction = await openInteraction(() => provider.interactionDetails(ctx.req, ctx.res));
    if (interaction instanceof Error || interaction.uid !== uid) {
      ctx.status = 400;
      return showError(ctx, { error: "invalid_request" }, interaction instanceof Error ? interaction : new Error());
    }
    const form = ctx.method === "POST" ? await readForm(ctx.req) : undefined;
    if (typeof form === "number") {
      ctx.status = form;
      ctx.set("Connection", "close");
      return showError(ctx, { error: "invalid_request", error_description: "this form is malformed" }, new Error());
    }
    const clientId = text(interaction.params["client_id"]);
    const chosen = (await provider.Client.find(clientId))?.clientName ?? clientId;
    const host = documentHost(clientId);
    // The host comes first, so that truncating a long name does not hide it.
    const name = host === undefined ? chosen : `${host}: ${chosen}`;
    const finish = (result: Parameters<Provider["interactionResult"]>[2]): Promise<string> =>
      provider.interactionResult(ctx.req, ctx.res, result);
    const handle = interaction.prompt.name === "login" ? signIn : consent;
    const location = await handle({ ctx, interaction, form, name, users, provider, ends, finish });
    if (location === undefined) return undefined;
    ctx.status = 303;
    ctx.redirect(location);
  };
}

interface Step {
  readonly ctx: PageContext;
  readonly interaction: Interaction;
  readonly form: URLSearchParams | undefined;
  /** The client's name, for people. */
  readonly name: string;
  readonly users: Users;
  readonly provider: Provider;
  readonly ends: Endings;
  finish(result: Parameters<Provider["interactionResult"]>[2]): Promise<string>;
}

async function signIn({ ctx, interaction, form, name, users, ends, finish }: Step): Promise<Outcome> {
  const { params } = interaction;
  const user = form === undefined ? undefined : users.signIn(form.get("login") ?? "", form.get("password") ?? "");
  if (user !== undefined) {
    await ends.later(user.subject);
    // The time of the password. By default, the library uses the time of the next request.
    return finish({ login: { accountId: user.subject, ts: Math.floor(Date.now() / 1_000) } });
  }
  const chosen = form?.get("person") ?? undefined;
  const failed = form !== undefined && chosen === undefined;
  // The form is well-formed but its content is wrong. A 401 would require an authentication scheme, which a form is
  // not.
  if (failed) ctx.status = 422;
  const known = users.bySubject(interaction.session?.accountId)?.email;
  const email = chosen ?? form?.get("login") ?? (text(params["login_hint"]) || known || "");
  showSignIn(ctx, { client: name, email, users: users.all, failed, leadsTo: text(params["redirect_uri"]) });
  return undefined;
}

async function consent({ ctx, interaction, form, name, users, provider, finish }: Step): Promise<Outcome> {
  const user = users.bySubject(interaction.session?.accountId);
  const decision = form?.get("decision");
  if (user === undefined || decision === "deny")
    return finish({ error: "access_denied", error_description: "the user did not allow it" });
  if (decision === "allow") return finish({ consent: { grantId: await granted(interaction, user, provider) } });
  showConsent(ctx, { client: name, redirectUri: text(interaction.params["redirect_uri"]), email: user.email });
  return undefined;
}

/**
 * Adds the scopes that the request lacks to the user's previous grant for this client in the session. Returns its id.
 */
async function granted({ grantId, prompt, params }: Interaction, user: User, provider: Provider): Promise<string> {
  const details = prompt.details as { missingOIDCScope?: string[]; missingResourceScopes?: Record<string, string[]> };
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant: Grant = known ?? new provider.Grant({ accountId: user.subject, clientId: text(params["client_id"]) });
  if (details.missingOIDCScope !== undefined) grant.addOIDCScope(details.missingOIDCScope.join(" "));
  for (const [resource, scopes] of Object.entries(details.missingResourceScopes ?? {}))
    grant.addResourceScope(resource, scopes.join(" "));
  return grant.save();
}

/** Returns the interaction, or the error if it has expired, is completed or belongs to another browser. */
async function openInteraction(open: () => Promise<Interaction>): Promise<Interaction | Error> {
  try {
    return await open();
  } catch (error) {
    return error as Error;
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const LIMIT = 64 * 1_024;

/** Returns the fields of the form, or a status if it is rejected: 413 if it is too long, 415 if it is not a form. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | 413 | 415> {
  if (readMediaType(request.headers["content-type"])?.type !== "application/x-www-form-urlencoded") return 415;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += (chunk as Buffer).length;
    if (length > LIMIT) return 413;
    chunks.push(chunk as Buffer);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
