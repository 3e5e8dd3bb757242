// A stream of writes with idempotency keys. Clients retry each, on any instance and wire, until it is acknowledged.
import { setTimeout as sleep } from "node:timers/promises";
import type { WireResponse } from "../../fixtures/clients/idempotent-writes.ts";
import { wires } from "../../fixtures/clients/idempotent-writes.ts";
import type { Operation, SpokenWire } from "./body.ts";
import { bodyOf } from "./body.ts";

export interface Acknowledged {
  /** Its idempotency key, and the text that identifies its record. */
  readonly name: string;
  readonly operation: Operation;
  /** The contact that a note was appended to. */
  readonly parent: string | undefined;
  readonly id: string;
  readonly wire: SpokenWire;
  /** The response, as REST would send it. */
  readonly body: string;
  readonly replayed: boolean;
  /** When it was acknowledged, in milliseconds of `performance.now()`. */
  readonly at: number;
}

export interface Stream {
  readonly acknowledged: readonly Acknowledged[];
  /** The number of requests without a successful response. */
  readonly retries: number;
  /** Unexpected responses, and writes that were never acknowledged. */
  readonly wrong: readonly string[];
}

export interface StreamOptions {
  /** The current instances. Clients use any of them. */
  readonly bases: () => readonly string[];
  readonly key: string;
  readonly clients: number;
  /** Milliseconds between two writes of a client. */
  readonly pauseMs: number;
  /** The stream ends when this resolves. Pending writes are still retried until acknowledged. */
  readonly during: (acknowledgedCount: () => number) => Promise<unknown>;
  /** The idempotency key of an attempt. A correct client uses the write's name. */
  readonly keyOf?: (name: string, attempt: number) => string;
}

const retryPauseMs = 50;
const patienceMs = 10_000;
const givesUpAfterMs = 90_000;
const mayBeRepeated = new Set(["503", "Unavailable"]);

/**
 * Runs clients that create contacts and append a note to every second one. Rejects only if `during` does, after all
 * clients have ended.
 */
export async function runStream({
  bases,
  key,
  clients,
  pauseMs,
  during,
  keyOf = (name) => name,
}: StreamOptions): Promise<Stream> {
  const acknowledged: Acknowledged[] = [];
  const wrong: string[] = [];
  let [retries, ended] = [0, false];

  async function sendUntilAcknowledged(name: string, parent?: string): Promise<string | undefined> {
    const operation: Operation = parent === undefined ? "create" : "append";
    const until = performance.now() + givesUpAfterMs;
    const turn = acknowledged.length;
    // Some are retried elsewhere without waiting for the first response.
    const hasty = numberOf(name) % 5 === 2;
    for (let attempt = 0; performance.now() < until; attempt++) {
      const among = bases();
      const target = { base: among[(turn + attempt) % among.length] ?? "", key };
      const wire: SpokenWire = (turn + attempt) % 3 === 0 ? "gRPC" : "REST";
      const sent =
        parent === undefined
          ? wires[wire].create(target, keyOf(name, attempt), contactOf(name))
          : wires[wire].append(target, keyOf(name, attempt), parent, name);
      const response = await responseWithin(sent, hasty && attempt === 0 ? 0 : patienceMs);
      if (response?.outcome === "ok") {
        const { id, replayed } = response;
        acknowledged.push({
          name,
          operation,
          parent,
          id,
          wire,
          replayed,
          body: bodyOf(operation, wire, response),
          at: performance.now(),
        });
        return id;
      }
      if (response !== undefined && !mayBeRepeated.has(response.outcome)) {
        wrong.push(`${name} got ${response.outcome} over ${wire}: ${response.text}`);
        return undefined;
      }
      retries += 1;
      if (!hasty || attempt > 0) await sleep(retryPauseMs);
    }
    wrong.push(`${name} was not acknowledged within ${givesUpAfterMs / 1_000} seconds`);
    return undefined;
  }

  async function client(number: number): Promise<void> {
    for (let at = 0; !ended; at++) {
      const id = await sendUntilAcknowledged(`c${number}-${at}`);
      if (id !== undefined && at % 2 === 1) await sendUntilAcknowledged(`n${number}-${at}`, id);
      await sleep(pauseMs);
    }
  }

  const end = during(() => acknowledged.length).finally(() => (ended = true));
  const [outcome] = await Promise.allSettled([end, ...Array.from({ length: clients }, (_, number) => client(number))]);
  if (outcome.status === "rejected") throw outcome.reason;
  return { acknowledged, retries, wrong };
}

/** The contact with this name. Every second one has an email, which must be unique. */
export function contactOf(name: string): { full_name: string; email?: string } {
  return numberOf(name) % 2 === 0 ? { full_name: name } : { full_name: name, email: `${name}@example.com` };
}

/** The number of the write among its client's. */
function numberOf(name: string): number {
  return Number(name.split("-")[1]);
}

/** Undefined if there is no response in time. A late response is ignored. */
function responseWithin(response: Promise<WireResponse>, withinMs: number): Promise<WireResponse | undefined> {
  return Promise.race([response.catch(() => undefined), sleep(withinMs, undefined, { ref: false })]);
}
