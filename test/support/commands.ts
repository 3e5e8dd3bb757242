// Counts what an instance asks of MongoDB and Redis: the commands themselves, not what somebody says of them.
import type { CommandStartedEvent, Document, MongoClient } from "mongodb";
import { Redis } from "ioredis";

/** A command sent to MongoDB. */
export interface MongoCommand {
  readonly name: string;
  /** The collection, where the command has one: "find contacts". */
  readonly label: string;
  readonly command: Document;
}

const housekeeping = new Set(["hello", "ping", "isMaster", "endSessions", "killCursors"]);

/** Listens to what a client asks of MongoDB, but for the driver's own housekeeping and the watch in the background. */
export function listenToMongo(client: MongoClient): {
  readonly commands: readonly MongoCommand[];
  stop(): readonly MongoCommand[];
} {
  const commands: MongoCommand[] = [];
  const hear = ({ commandName, command }: CommandStartedEvent): void => {
    if (housekeeping.has(commandName) || command["comment"] === "watch") return;
    const collection: unknown = command[commandName];
    commands.push({
      name: commandName,
      label: typeof collection === "string" ? `${commandName} ${collection}` : commandName,
      command,
    });
  };
  client.on("commandStarted", hear);
  return {
    commands,
    stop() {
      client.off("commandStarted", hear);
      return commands;
    },
  };
}

/** Listens to everything that Redis is asked by anyone, but for what its own scripts ask. */
export async function listenToRedis(url: string): Promise<{ stop(): Promise<string[]> }> {
  const marker = new Redis(url);
  // It gives its place to a connection of its own.
  const monitor = await marker.monitor();
  const commands: string[] = [];
  let ended = (): void => undefined;
  const end = new Promise<void>((resolve) => (ended = resolve));
  monitor.on("monitor", (_time: string, [name = "", text = ""]: string[], source: string) => {
    if (name.toLowerCase() === "echo" && text === "end of listening") ended();
    else if (source !== "lua") commands.push(name.toLowerCase());
  });
  // What ioredis says on connecting is not what anyone asked.
  await marker.ping();
  return {
    async stop() {
      await marker.echo("end of listening");
      await end;
      monitor.disconnect();
      marker.disconnect();
      return commands.filter((name) => !["info", "ping", "client", "select", "hello", "auth"].includes(name));
    },
  };
}
