// The driver's connections of our clients: they report each command, and correct two faults of the driver.
import type { ClientSession, Document, MongoClientOptions } from "mongodb";
import { MongoClient } from "mongodb";
import type { Tally } from "../call/tally.ts";
import type { CommandOptions } from "mongodb/lib/cmap/connection.js";
import { Connection } from "mongodb/lib/cmap/connection.js";

/** A command that a client sends. */
export interface SentCommand {
  readonly database: string;
  readonly command: Document;
  /** The tally of the request whose transaction the command belongs to. */
  readonly tally: Tally | undefined;
  /** Host and port of the server. */
  readonly address: string;
}

/** Called when a command is sent. Returns a function to call when it ends, with the error if it failed. */
export type CommandObserver = (sent: SentCommand) => (error?: unknown) => void;

const observers = new WeakMap<MongoClient, { observe: CommandObserver | undefined }>();

/**
 * Creates a client. The driver's own monitoring of commands would decode each reply a second time, so its commands are
 * observed at the connection, where OpenTelemetry's instrumentation observes them too.
 */
export function createMongoClient(uri: string, options: MongoClientOptions): MongoClient {
  const observed: { observe: CommandObserver | undefined } = { observe: undefined };
  const withConnections = { ...options, connectionType: connectionType(observed) };
  const client = new MongoClient(uri, withConnections);
  observers.set(client, observed);
  return client;
}

/** Observes the commands of a client from now on, except those with which it opens connections. */
export function observeCommands(client: MongoClient, observe: CommandObserver): void {
  const observed = observers.get(client);
  if (observed === undefined) throw new Error("the client was not created by createMongoClient");
  observed.observe = observe;
}

const tallies = new WeakMap<ClientSession, Tally>();

/** Counts the commands of a session in a tally, until the returned function is called. */
export function tallySession(session: ClientSession, tally: Tally | undefined): () => void {
  if (tally === undefined) return () => undefined;
  tallies.set(session, tally);
  return () => void tallies.delete(session);
}

function connectionType(observed: { readonly observe: CommandObserver | undefined }): typeof Connection {
  return class extends Connection {
    override async command(
      ns: { readonly db: string },
      command: Document,
      given: CommandOptions = {},
      responseType?: unknown,
    ): Promise<unknown> {
      // The driver decodes an error reply to a raw find, but not to a raw aggregation, and then compares the bytes of
      // its topology version as a version: a TypeError.
      const options = given.raw === true ? { documentsReturnedIn: "firstBatch", ...given } : given;
      const { observe } = observed;
      if (observe === undefined || !this.established) return super.command(ns, command, options, responseType);
      const tally = options.session && tallies.get(options.session);
      const end = observe({ database: ns.db, command, tally, address: this.address });
      try {
        const reply = await super.command(ns, command, options, responseType);
        end();
        return reply;
      } catch (error) {
        end(error);
        throw error;
      }
    }

    /**
     * Lets commands of a closed connection fail with the error that closed it. `writeCommand` waits for the socket's
     * `drain` after a write that was buffered, and a destroyed socket emits none: such a command would wait for ever
     * and keep its place in the pool. A command without a reply, which the service does not send, succeeds.
     */
    override cleanup(error: Error): void {
      const isOpen = !this.closed;
      super.cleanup(error);
      if (!isOpen) return;
      // A command that is about to be written, or that waits, looks at the error of its connection next.
      this.socket.write = () => true;
      this.socket.emit("drain");
    }
  };
}
