// Observes the commands to MongoDB and Redis: their names, durations and errors, but never their values.
import type { Cluster, Redis } from "ioredis";
import type { MongoClient } from "mongodb";
import { MongoServerError } from "mongodb";
import { observeCommands } from "../db/connection.ts";
import { isDataConflict, isDenied } from "../db/error-codes.ts";
import { replyCode } from "../db/redis-code.ts";
import { beginWait } from "../call/tally.ts";

/** A command under way. Only the program and the drivers choose the names, so their number is bounded. */
export interface Command {
  readonly system: "mongodb" | "redis";
  readonly name: string;
  readonly database?: string;
  readonly collection?: string | undefined;
  /** Host and port of the server, as the driver names them. */
  readonly address?: string;
}

/**
 * Called when a command is sent. Returns a function to call when the command ends, with the kind of error if it failed.
 */
export type CommandObserver = (command: Command) => (error?: string) => void;

/** Called when MongoDB denies a command because the user lacks a privilege. */
export type DeniedListener = (command: Pick<Command, "name" | "database" | "collection">) => void;

/** Observes all commands of a client. Those of a transaction also count in the tally of its request. */
export function watchMongo(client: MongoClient, observer: CommandObserver, onDenied: DeniedListener): void {
  observeCommands(client, ({ command: sent, database, address, tally }) => {
    const name = Object.keys(sent)[0] ?? "";
    const target: unknown = name === "getMore" ? sent["collection"] : sent[name];
    const collection = typeof target === "string" ? target : undefined;
    const command: Command = { system: "mongodb", name, database, address, collection };
    const end = observer(command);
    if (tally !== undefined) tally.dbCommands += 1;
    const endWait = tally && beginWait(tally, `mongodb ${name} ${collection ?? ""}`.trim());
    return (error) => {
      end(error === undefined ? undefined : mongoError(error));
      endWait?.();
      if (error instanceof MongoServerError && isDenied(Number(error.code))) onDenied(command);
    };
  });
}

/**
 * Observes all commands of a client, from any part of the program. A command that a cluster redirects counts once for
 * each node that receives it.
 */
export function watchRedis(client: Redis | Cluster, observer: CommandObserver): void {
  if ("nodes" in client) return void client.on("+node", (node: Redis) => watchRedis(node, observer));
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    const end = observer({ system: "redis", name: command.name, address: addressOf(client) });
    const reply = send(command, stream);
    command.promise.then(
      () => end(),
      (error: unknown) => end(redisError(error)),
    );
    return reply;
  };
}

/** Returns the address of the server as `host:port`. In a Sentinel group, that is the connected master. */
function addressOf({ options: { host = "", port = 0, sentinels }, stream }: Redis): string {
  return sentinels == null ? `${host}:${port}` : `${stream.remoteAddress ?? ""}:${stream.remotePort ?? ""}`;
}

/** Combines several observers into one. */
export function allOf(observers: readonly CommandObserver[]): CommandObserver {
  const [only] = observers;
  if (only !== undefined && observers.length === 1) return only;
  return (command) => {
    const ends = observers.map((begin) => begin(command));
    return (error) => {
      for (const end of ends) end(error);
    };
  };
}

/**
 * Returns the server's error code if it replied, and otherwise the class of the error. A message may repeat values.
 * Returns undefined for a conflict with stored data, which does not count as a failed command.
 */
function mongoError(error: unknown): string | undefined {
  if (error instanceof MongoServerError && isDataConflict(Number(error.code))) return undefined;
  return error instanceof MongoServerError ? (error.codeName ?? String(error.code)) : nameOf(error);
}

/** Returns the code of Redis's error reply, or else the class of the error. */
function redisError(error: unknown): string {
  return replyCode(error) ?? nameOf(error);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "Error";
}
