// Sends one idempotent write in a fresh account and checks its outcome.
import { rest } from "../../fixtures/service/service.ts";
import { recordsOf } from "../../fixtures/records/stored.ts";
import type { WireResponse } from "../../fixtures/clients/idempotent-writes.ts";
import { wires } from "../../fixtures/clients/idempotent-writes.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import type { SpokenWire } from "../kills/body.ts";
import { bodyOf, readBack } from "../kills/body.ts";
import type { BrokenWrite } from "./instants.ts";
import { describe } from "./instants.ts";

/** A write that is interrupted once and then checked by a retry. */
export interface PreparedWrite {
  readonly broken: BrokenWrite;
  /** Sends it to the instance at this base. Undefined if there was no response. */
  send(base: string, wire?: SpokenWire): Promise<WireResponse | undefined>;
  /**
   * Retries it on a healthy instance and returns the violations: anything but one record, one note, one claim, and the
   * same body in every response. `first` is the response to the interrupted attempt.
   */
  check(healthy: string, first: WireResponse | undefined): Promise<string[]>;
}

/**
 * Waiting for a transaction that another instance left open may end in 503. A lock left to MongoDB's timeout would
 * outlast these attempts.
 */
const maxAttempts = 4;

/** Creates an account with a contact, and prepares the write. */
export async function prepareWrite(fixture: Fixture, healthy: string, broken: BrokenWrite): Promise<PreparedWrite> {
  const { operation, wire, breach } = broken;
  const account = await fixture.account();
  const parent = await wires.REST.create({ base: healthy, key: account.key }, "parent", { full_name: "Parent" });
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
        void (right || violations.push(`${describe(broken)}: ${words}`));
      let retry = await send(base);
      for (let again = 1; again < maxAttempts && ["503", "Unavailable"].includes(retry?.outcome ?? ""); again++)
        retry = await send(base);
      if (retry?.outcome !== "ok")
        return [
          `${describe(broken)}: its retry got ${retry === undefined ? "nothing" : `${retry.outcome} ${retry.text}`}`,
        ];
      const body = bodyOf(operation, wire, retry);
      const known =
        "received" in breach ||
        ("at" in breach && breach.at.command === "commitTransaction" && breach.at.when === "after");
      see(!known || retry.replayed, "it was committed, but its retry was not a replay");
      if (breach.kind === "killed") see(first?.outcome !== "ok", "the client received a success");
      if (breach.kind === "fault")
        see(first?.outcome === "ok", `the instance did not recover: ${first?.outcome ?? "no response"}`);
      if (first?.outcome === "ok")
        see(
          bodyOf(operation, wire, first) === body && retry.replayed,
          `it returned ${bodyOf(operation, wire, first)}, but its retry returned ${body}`,
        );

      const other: SpokenWire = wire === "REST" ? "gRPC" : "REST";
      const third = await send(base, other);
      see(
        third?.outcome === "ok" && third.replayed && bodyOf(operation, other, third) === body,
        `its retry got ${body}, but ${third?.text ?? "nothing"} over ${other}`,
      );
      const expected = operation === "create" ? body : readBack(parent.text, [body]);
      const read = await rest(base, `/v1/contacts/${operation === "create" ? retry.id : parent.id}`, {
        key: account.key,
      });
      see(read.text === expected, `a read after it should return ${expected}, but returned ${read.text}`);
      const held = await recordsOf(fixture.client, account);
      for (const [what, count] of Object.entries(once)) {
        const found = held[what as keyof typeof held];
        see(found === count, `${found} ${what} exist, not ${count}`);
      }
      return violations;
    },
  };
}
