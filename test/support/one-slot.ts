// Checks that every command that any test sends to Redis keeps to one slot: a cluster takes no other.
import { Command, Redis } from "ioredis";
import { afterAll, expect } from "vitest";

/** A client whose commands are listened to, once for all test files of a worker. */
interface Watched {
  crossing?: string[];
}

const client: Redis & Watched = Redis.prototype;
const crossing = (client.crossing ??= watch());

/** Notes commands whose keys are in several slots; of the nodes of a cluster too. */
function watch(): string[] {
  const found: string[] = [];
  const send = client.sendCommand;
  client.sendCommand = function (command, stream) {
    const slots = new Set(command.getKeys().map((key) => slotOf(key.toString())));
    if (slots.size > 1) found.push(`${command.name} ${command.getKeys().join(" ")}`);
    return send.call(this, command, stream);
  };
  return found;
}

/** The slot of a cluster that a key is in. */
export function slotOf(key: string): number {
  return new Command("get", [key]).getSlot();
}

/** Those that were found until now; the caller is responsible for them. */
export function takeCrossing(): string[] {
  return crossing.splice(0);
}

afterAll(() => {
  expect(takeCrossing()).toEqual([]);
});
