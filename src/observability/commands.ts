// Watches the commands that go to MongoDB and Redis: which, how long, whether they failed; never with what.
import type { Cluster, Redis } from "ioredis";
import type { CommandFailedEvent, CommandStartedEvent, CommandSucceededEvent, Document, MongoClient } from "mongodb";
import { MongoServerError } from "mongodb";
import { isDenied, isVerdict } from "../db/error-codes.ts";
import { replyCode } from "../db/redis-code.ts";
import { beginWait, tallyOfSession } from "../tally.ts";

/** A command on its way. The names are those of the program and of the drivers, so there are only so many. */
export interface Command {
  readonly system: "mongodb" | "redis";
  readonly name: string;
  readonly database?: string;
  readonly collection?: string | undefined;
  /** Host and port of the server, as the driver names them. */
  readonly address?: string;
}

/**
 * Called when a command leaves; what it returns is called when the command is over, with the kind of error where it
 * failed.
 */
export type CommandObserver = (command: Command) => (error?: string) => void;

/** Called when MongoDB denied a command, for want of a right. */
export type DeniedListener = (command: Pick<Command, "name" | "database" | "collection">) => void;

/** Watches all commands of a client, by the driver's own events (`monitorCommands`). */
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
 * Watches all commands of a client, wherever in the program they come from. A command that a cluster redirects is one
 * to each node that it is sent to.
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

/** Of a Sentinel group, the master that is connected to. */
function addressOf({ options: { host = "", port = 0, sentinels }, stream }: Redis): string {
  return sentinels == null ? `${host}:${port}` : `${stream.remoteAddress ?? ""}:${stream.remotePort ?? ""}`;
}

/** Counts a command of a transaction in the tally of its request, which waits for it; undefined for any other. */
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

/** Reports to several observers. */
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
 * The server's code where it replied, else the class of the error; undefined where the command was done. A message may
 * repeat values.
 */
function mongoError(error: unknown): string | undefined {
  if (error instanceof MongoServerError && isVerdict(Number(error.code))) return undefined;
  return error instanceof MongoServerError ? (error.codeName ?? String(error.code)) : nameOf(error);
}

/** The code of Redis's error reply, else the error's class. */
function redisError(error: unknown): string {
  return replyCode(error) ?? nameOf(error);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "Error";
}
