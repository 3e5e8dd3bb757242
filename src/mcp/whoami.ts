// The whoami tool: says who "I" is.
import { oneLine } from "../text/text.ts";
import type { Tool } from "./tool.ts";

/** Returns the signed-in user, as the identity provider describes them, and the time. What it does not say is left out. */
export const whoamiTool: Tool = {
  name: "whoami",
  title: "Who is signed in",
  description:
    'Returns the name, email and time zone of the signed-in user, and the current time: who "I" is in a question, and as whom transcripts and notes may name the owner of these records.',
  rest: "",
  schemas: () => ({
    input: { type: "object", properties: {}, required: [], additionalProperties: false },
    output: {
      type: "object",
      properties: {
        name: { type: "string" },
        email: { type: "string" },
        time_zone: { type: "string" },
        now: { type: "string" },
      },
    },
  }),
  // Some clients send an argument to every tool, and none can mean anything here.
  async run(_given, { user, profile }) {
    const { name, email, timeZone } = await user();
    const known = Object.entries({ name, email, time_zone: timeZone }).flatMap(([member, value]) =>
      value === undefined ? [] : [[member, oneLine(value)] as const],
    );
    return {
      ...Object.fromEntries(known),
      now: new Date().toISOString(),
      ...(profile.timeZone === undefined && {
        hint: `${timeZone === undefined ? "The identity provider does not say the time zone: ask the user, or use UTC. " : ""}Dates without a time are days in UTC: for local days, pass date-times with an offset.`,
      }),
    };
  },
};
