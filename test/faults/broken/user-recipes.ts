// Recipes for the operations of users and their assistants: MCP tool calls, the dashboard, signing in and out.
import type { RestResponse } from "../../fixtures/service/service.ts";
import { tools } from "../../../src/mcp/tools.ts";
import { send } from "../../fixtures/sign-in/assistants.ts";
import { enter, logoutClaims, sendLogoutToken } from "../../fixtures/sign-in/fake-provider.ts";
import { sendRequest } from "../../fixtures/sign-in/fixture.ts";
import type { Lane } from "./lane.ts";
import type { Outcome, Recipe } from "./recipe.ts";
import { outcomeOf, success, unavailable, wrong } from "./recipe.ts";

/** The arguments of a successful call, by tool. */
const given: Readonly<Record<string, (seen: Lane["seen"]) => Record<string, unknown>>> = {
  search_contacts: () => ({ query: "ann" }),
  get_contact: ({ contact }) => ({ contact_id: contact }),
  list_sessions: () => ({}),
  get_session: ({ session }) => ({ session_id: session }),
  get_session_transcript: ({ session }) => ({ session_id: session }),
  search_transcripts: () => ({ query: "budget plan" }),
  search_notes: () => ({ query: "budget" }),
  search: () => ({ query: "ann" }),
  fetch: ({ contact }) => ({ id: `contact:${contact}` }),
  whoami: () => ({}),
};

/** The outcome of a tool call. Unavailability is reported in the result's text or in the envelope. */
function toolOutcome(response: RestResponse): Outcome {
  if (response.status !== 200) return outcomeOf(response, 200);
  const { result } = JSON.parse(/^data: (.*)$/m.exec(response.text)?.[1] ?? response.text) as {
    result?: { isError?: boolean; content: { text: string }[] };
  };
  if (result === undefined) return wrong(response.text);
  if (result.isError !== true) return success;
  const text = result.content[0]?.text ?? "";
  return /^The service (cannot respond right now|could not respond in time)\. Try again\.$/.test(text)
    ? unavailable
    : wrong(text);
}

function toolCall(name: string): Recipe {
  return {
    operation: `MCP tool ${name}`,
    prepare(lane) {
      const params = { name, arguments: given[name]?.(lane.seen) };
      if (params.arguments === undefined) throw new Error(`no arguments for the tool ${name}`);
      return Promise.resolve({
        send: async () =>
          toolOutcome(await send(lane.service.base, `Bearer ${lane.token}`, { method: "tools/call", params })),
      });
    },
  };
}

/** Signs in a user without other sessions. `ended` tells whether the session has ended. */
async function signedIn(
  lane: Lane,
  name: string,
): Promise<{ subject: string; cookie: string; ended: () => Promise<number> }> {
  const sessions = lane.whole.app.client.db().collection("dashboard_sessions");
  const { subject, signIn } = await lane.user(name);
  await sessions.deleteMany({ subject });
  return { subject, cookie: await signIn(), ended: async () => 1 - (await sessions.countDocuments({ subject })) };
}

export const userRecipes: readonly Recipe[] = [
  ...tools.map(({ name }) => toolCall(name)),
  {
    operation: "the dashboard's page",
    async prepare({ service, user }) {
      const { cookie } = await user("reads the page");
      const options = { cookie, accept: "application/json" };
      return { send: async () => outcomeOf(await sendRequest(`${service.app.baseUrl}/`, options), 200) };
    },
  },
  {
    operation: "the callback from the identity provider",
    async prepare({ service, fake, user }) {
      const { subject: sub } = await user("signs in");
      return { send: async () => outcomeOf((await enter(service.app.baseUrl, fake, { sub })).response, 303) };
    },
  },
  {
    operation: "signing out",
    async prepare(lane) {
      const { cookie, ended } = await signedIn(lane, "signs out");
      const { baseUrl: origin } = lane.service.app;
      return {
        send: async () => outcomeOf(await sendRequest(`${origin}/sign-out`, { method: "POST", cookie, origin }), 303),
        effects: ended,
        repeatable: true,
      };
    },
  },
  {
    operation: "signing out at the identity provider",
    async prepare(lane) {
      const { subject: sub, ended } = await signedIn(lane, "signs out at the provider");
      const token = await lane.fake.sign(logoutClaims(lane.fake, { sub }));
      return {
        send: async () => outcomeOf(await sendLogoutToken(lane.service.app.baseUrl, token), 200),
        effects: ended,
      };
    },
  },
];
