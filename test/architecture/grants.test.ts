// The right to write and the caller's identity come from the one place that guards them.
import { declareRule } from "../rules/rule.ts";
import { grantsElsewhere, looseLookUps } from "./grants.ts";
import { handWritten } from "./sources.ts";

declareRule({
  title: "only the guards grant the right to write",
  sources: handWritten,
  breaches: grantsElsewhere,
  bad: [
    ["a call", "const scope = grantWrites(read);"],
    ["an import", 'import { grantWrites as grant } from "../call/scope.ts";'],
    ["a member", 'guards["grantWrites"](read);'],
    ["a drill", "grantWrites(read);", "drills/kills/kills.ts"],
    ["a file beside the guards", "grantWrites(read);", "src/guards.ts"],
  ],
  good: [["a guard", "const scope = grantWrites(read);", "src/guards/chain.ts"]],
});

declareRule({
  title: "a credential of any kind is looked up by a recognizer, which limits look-ups that fail [RTE-20]",
  sources: handWritten,
  breaches: (sources) => sources.flatMap(looseLookUps),
  path: "src/mcp/endpoint.ts",
  bad: [
    ["a token", "const facts = await tokens.identify(token);"],
    ["a key", "const found = await apiKeys.find(key);"],
    ["a key that may be absent", "const found = await keys?.find(key);"],
    ["a session", 'const found = await signIn.find(inbound.header("cookie"));', "src/dashboard/surface.ts"],
    ["a cookie", "return find(cookies, deadline);"],
  ],
  good: [
    ["a recognizer", "const one = { lookUp: (deadline) => tokens.identify(token, deadline) };"],
    ["the composition root", "tokens.identify(token);", "src/app/assistants.ts"],
  ],
});
