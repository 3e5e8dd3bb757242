// Observes the commands to MongoDB and Redis: their names, durations and errors, but never their values.
import type { Cluster, Redis } from "ioredis";
import type { CommandFailedEvent, CommandStartedEvent, CommandSucceededEvent, Document, MongoClient } from "mongodb";
import { MongoServerError } from "mongodb";
import { isDataConflict, isDenied } from "../db/error-codes.ts";
import { replyCode } from "../db/redis-code.ts";
import { beginWait, tallyOfSession } from "../call/tally.ts";

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

/** Observes all commands of a client through the driver's events. The client needs `monitorCommands`. */
export function watchMongo(client: MongoClient, observer: CommandObserver, onDenied: DeniedListener): void {
  const running = new Map<number, { readonly command: Command; readonly end: (error?: string) => void }>();
  const end = ({ requestId }: CommandSucceededEvent | CommandFailedEvent, error?: string): Command | undefined => {
    const one = running.get(requestId);
    running.delete(requestId);
    one?.end(error);
    return one?.command;
  };
  client.on(
    "commandStarted",
    ({ requestId, commandName: name, databaseName: database, address, command }: CommandStartedEvent) => {
      const target: unknown = name === "getMore" ? command["collection"] : command[name];
      const sent: Command = {
        system: "mongodb",
        name,
        database,
        address,
        collection: typeof target === "string" ? target : undefined,
      };
      const end = observer(sent);
      running.set(requestId, { command: sent, end: allEnds(end, inTransaction(command, sent)) });
    },
  );
  client.on("commandSucceeded", (event) => void end(event));
  client.on("commandFailed", (event) => {
    const sent = end(event, mongoError(event.failure));
    if (sent !== undefined && event.failure instanceof MongoServerError && isDenied(Number(event.failure.code)))
      onDenied(sent);
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

/**
 * Counts a transaction's command in the tally of its request, which waits for it. Returns the end of that wait, or
 * undefined for any other command.
 */
function inTransaction({ lsid }: Document, { name, collection = "" }: Command): (() => void) | undefined {
  const tally = tallyOfSession(lsid);
  if (tally === undefined) return undefined;
  tally.dbCommands += 1;
  return beginWait(tally, `mongodb ${name} ${collection}`.trim());
}

function allEnds(end: (error?: string) => void, other: (() => void) | undefined): (error?: string) => void {
  if (other === undefined) return end;
  return (error) => {
    end(error);
    other();
  };
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
