// Sends one idempotent write in a fresh account and checks its outcome.
import { rest } from "../../fixtures/service/service.ts";
import { recordsOf } from "../../fixtures/records/stored.ts";
import type { WireResponse } from "../../fixtures/clients/idempotent-writes.ts";
import { wires } from "../../fixtures/clients/idempotent-writes.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import type { SpokenWire } from "../kills/body.ts";
import { bodyOf, readBack } from "../kills/body.ts";
import type { BrokenWrite } from "./instants.ts";
import { spell } from "./instants.ts";

/** A write that is sent once, broken, and checked by its retry. */
export interface PreparedWrite {
  readonly broken: BrokenWrite;
  /** Sends it to the instance at this base: undefined where no response came. */
  send(base: string, wire?: SpokenWire): Promise<WireResponse | undefined>;
  /**
   * Sends it again to an instance that is whole, and gives what is wrong: anything but one record, one note, one claim,
   * and the same body in every response. `first` is what its client has received.
   */
  check(whole: string, first: WireResponse | undefined): Promise<string[]>;
}

/**
 * A wait of an instance for what another left open may end in 503; MongoDB alone would hold it for longer than this.
 */
const tries = 4;

/** Prepares an account with a contact, and the write. */
export async function prepareWrite(fixture: Fixture, whole: string, broken: BrokenWrite): Promise<PreparedWrite> {
  const { operation, wire, breach } = broken;
  const account = await fixture.account();
  const parent = await wires.REST.create({ base: whole, key: account.key }, "parent", { full_name: "Parent" });
  const once = { contacts: operation === "create" ? 2 : 1, notes: operation === "append" ? 1 : 0, claims: 2 };

  const send = (base: string, by: SpokenWire = wire): Promise<WireResponse | undefined> => {
    const target = { base, key: account.key };
    const sent =
      operation === "create"
        ? wires[by].create(target, "k", { full_name: "Once" })
        : wires[by].append(target, "k", parent.id, "once");
    return sent.catch(() => undefined);
  };

  return {
    broken,
    send,
    async check(base, first) {
      const violations: string[] = [];
      const see = (right: boolean, words: string): void =>
        void (right || violations.push(`${spell(broken)}: ${words}`));
      let retry = await send(base);
      for (let again = 1; again < tries && ["503", "Unavailable"].includes(retry?.outcome ?? ""); again++)
        retry = await send(base);
      if (retry?.outcome !== "ok")
        return [
          `${spell(broken)}: its retry got ${retry === undefined ? "nothing" : `${retry.outcome} ${retry.text}`}`,
        ];
      const body = bodyOf(operation, wire, retry);
      const known =
        "received" in breach ||
        ("at" in breach && breach.at.command === "commitTransaction" && breach.at.when === "after");
      see(!known || retry.replayed, "it had been committed, and its retry was no replay");
      if (breach.kind === "killed") see(first?.outcome !== "ok", "its client had received a success");
      if (breach.kind === "fault")
        see(first?.outcome === "ok", `the instance did not get over it: ${first?.outcome ?? "no response"}`);
      if (first?.outcome === "ok")
        see(
          bodyOf(operation, wire, first) === body && retry.replayed,
          `returned ${bodyOf(operation, wire, first)}, and its retry ${body}`,
        );

      const other: SpokenWire = wire === "REST" ? "gRPC" : "REST";
      const third = await send(base, other);
      see(
        third?.outcome === "ok" && third.replayed && bodyOf(operation, other, third) === body,
        `its retry got ${body}, and over ${other} ${third?.text ?? "nothing"}`,
      );
      const expected = operation === "create" ? body : readBack(parent.text, [body]);
      const read = await rest(base, `/v1/contacts/${operation === "create" ? retry.id : parent.id}`, {
        key: account.key,
      });
      see(read.text === expected, `returned a body after which ${expected} should be read, and ${read.text} is`);
      const held = await recordsOf(fixture.client, account);
      for (const [what, count] of Object.entries(once)) {
        const found = held[what as keyof typeof held];
        see(found === count, `${found} ${what} are there, and not ${count}`);
      }
      return violations;
    },
  };
}
