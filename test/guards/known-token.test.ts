// A known token that is looked up for each request, over fake dependencies.
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test, vi } from "vitest";
import { deadlineMs } from "../../src/call/deadline.ts";
import { fail } from "../../src/call/errors.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { MadeAssistant } from "./made-assistant.ts";
import { account, facts, makeAssistant, one, token } from "./made-assistant.ts";
import { reasonOf } from "./made.ts";

const { getContact } = ContactService.method;

/** Sends a known token again, with what proves it and a read. */
async function known({ access, parts }: MadeAssistant) {
  await access.enter(parts.inbound(token));
  parts.steps.length = 0;
  const inbound = parts.inbound(token);
  const { prove } = await access.enter(inbound);
  const read = async (): Promise<unknown> =>
    (await parts.behind(access).admit(getContact, inbound)).invoke(create(getContact.input, one));
  return { prove, read };
}

test("a known token is looked up once for all calls of a request", async () => {
  const made = makeAssistant();
  const { prove, read } = await known(made);
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  onTestFinished(() => clock.mockRestore());
  await prove();
  await Promise.all([read(), read()]);
  expect(made.parts.steps).toEqual([
    `take account:${account}`,
    "identify token-one",
    "serve GetContact",
    "serve GetContact",
  ]);
});

test("a read that takes longer than half a second returns nothing if its token has ended meanwhile", async () => {
  const made = makeAssistant();
  const { prove, read } = await known(made);
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  onTestFinished(() => clock.mockRestore());
  await prove();
  made.parts.world.serve = async () => {
    made.provider.identify = async () => fail(Reason.INVALID_TOKEN);
    clock.mockReturnValue(10_500);
  };
  expect(await reasonOf(read())).toBe("INVALID_TOKEN");
});

test("a known token is looked up within the deadline of its request, without the time of its body [OPS-15]", async () => {
  const { access, parts, provider } = makeAssistant();
  await access.enter(parts.inbound(token));
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  onTestFinished(() => clock.mockRestore());
  const { prove } = await access.enter(parts.inbound(token, 9_900));
  const ends: number[] = [];
  provider.identify = (_token, { at }) => {
    ends.push(at);
    return Promise.resolve(facts);
  };
  clock.mockReturnValue(60_000);
  await prove();
  expect(ends).toEqual([60_000 + deadlineMs - 100]);
});
