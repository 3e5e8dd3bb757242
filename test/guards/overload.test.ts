// What the access policies do while every slot is taken, over fake dependencies, and which slots their look-ups take.
import { expect, onTestFinished, test } from "vitest";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { ApiKeyService } from "../../src/gen/records/v1/api_keys_pb.ts";
import type { Capacity } from "../../src/guards/capacity.ts";
import { createCapacity, unlimited } from "../../src/guards/capacity.ts";
import { makeAssistant, token } from "./made-assistant.ts";
import type { Made } from "./made.ts";
import { make, publicAccessPolicyOf, reasonOf } from "./made.ts";
import { checkHealth, createContact, getContact, key, one } from "./public-policy.ts";

/** Takes the only slot of a capacity until the test has finished. */
function occupy(capacity: Capacity): void {
  let end = (): void => undefined;
  const work = capacity.count(() => new Promise<void>((resolve) => (end = resolve)));
  onTestFinished(async () => {
    end();
    await work;
  });
}

const narrow = (): Capacity => createCapacity(1, () => undefined, 0);

function behindPublic(capacity: Capacity) {
  const parts = make();
  return { parts, dispatch: parts.behind(publicAccessPolicyOf(parts, capacity), capacity) };
}

test.each<[string, (capacity: Capacity) => { parts: Made; sent: Promise<unknown> }]>([
  [
    "an API key",
    (capacity) => {
      const { parts, dispatch } = behindPublic(capacity);
      return { parts, sent: dispatch.admit(getContact, parts.inbound()) };
    },
  ],
  [
    "a session",
    (capacity) => {
      const { parts, dispatch } = behindPublic(capacity);
      return { parts, sent: dispatch.admit(ApiKeyService.method.getApiKey, parts.inbound()) };
    },
  ],
  [
    "an access token",
    (capacity) => {
      const { parts, accessPolicy } = makeAssistant(capacity);
      return { parts, sent: accessPolicy.enter(parts.inbound()) };
    },
  ],
])("under overload, a request without %s is throttled and then gets 503, not 401 [RTE-22]", async (_what, send) => {
  const capacity = narrow();
  occupy(capacity);
  const { parts, sent } = send(capacity);
  await expect(sent).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
    message: "The service is handling too many requests. Try again.",
  });
  expect(parts.steps).toEqual(["take address:192.0.2.1"]);
});

test("under overload, a request with a known key is rejected before its body arrives, and health is not [RTE-22]", async () => {
  const capacity = narrow();
  const { parts, dispatch } = behindPublic(capacity);
  await parts.call(dispatch, getContact, key, one);
  occupy(capacity);
  expect(await reasonOf(dispatch.admit(createContact, parts.inbound(key)))).toBe("UNAVAILABLE");
  expect(await reasonOf(dispatch.admit(checkHealth, parts.inbound(key)))).toBe("no failure");
});

test("an access token is looked up in a slot for unknown callers at first, and then in one for known callers [RTE-22]", async () => {
  const slots: string[] = [];
  const { parts, accessPolicy } = makeAssistant({
    ...unlimited,
    run: (credential, _deadline, work) => {
      slots.push(credential);
      return work();
    },
  });
  const { prove } = await accessPolicy.enter(parts.inbound(token));
  await prove();
  expect(slots).toEqual(["unverified", "verified"]);
});
