// Checks that every Redis command in tests uses a single slot, as a cluster requires.
import { Command, Redis } from "ioredis";
import { afterAll, expect } from "vitest";

/** The patched client prototype, shared by all test files of a worker. */
interface Watched {
  crossing?: string[];
}

const client: Redis & Watched = Redis.prototype;
const crossing = (client.crossing ??= watch());

/** Records commands whose keys are in several slots, including those of cluster nodes. */
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

export function slotOf(key: string): number {
  return new Command("get", [key]).getSlot();
}

afterAll(() => {
  expect(crossing.splice(0)).toEqual([]);
});
