// A proxy before a mongod that knows its messages, and acts at one moment of one command: before it, or after it is
// done.
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { directUri } from "../support/database.ts";

/** One moment in the life of a write. */
export interface Moment {
  /** The command's name. */
  readonly command: string;
  /** The collection that it is about, where the name alone is not enough. */
  readonly collection?: string;
  /** Before: mongod never gets it. After: mongod has done it, and nobody hears. */
  readonly when: "before" | "after";
}

/** A message that was held back. */
export interface HeldMessage {
  /** Cuts the connection that it came by: nobody gets it. */
  cut(): void;
  /** Lets it go on. */
  release(): void;
}

/** A proxy that is armed for one moment at a time. */
export interface MongoProxy {
  /** The same database by way of the proxy. */
  readonly uri: string;
  /** At the moment, once, the message is held back and `act` is run. Resolves when that has happened. */
  arm(moment: Moment, act: (held: HeldMessage) => void): Promise<void>;
  stop(): Promise<void>;
}

/** What OP_MSG (wire protocol, opcode 2013) says in its first section: the command and its value. */
function commandOf(message: Buffer): { name: string; value: string | undefined } | undefined {
  if (message.readInt32LE(12) !== 2013 || message[20] !== 0) return undefined;
  const end = message.indexOf(0, 26);
  const name = message.toString("latin1", 26, end);
  // Type 2 is a string: four bytes of length, then the text and a NUL.
  return {
    name,
    value: message[25] === 2 ? message.toString("utf8", end + 5, message.indexOf(0, end + 5)) : undefined,
  };
}

/** Cuts a stream into messages, each of which begins with its length. */
function messages(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      onMessage(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}

/** Is told of every command that passes, and of the text that is its value: the collection, for most. */
export type OnCommand = (command: string, value: string | undefined) => void;

/** Starts a proxy to the mongod of this URI, which listens on 127.0.0.1. */
export async function startMongoProxy(uri: string, onCommand: OnCommand = () => undefined): Promise<MongoProxy> {
  const mongodPort = Number(new URL(uri).port);
  let armed: { moment: Moment; reached: (held: HeldMessage) => void } | undefined;
  const sockets = new Set<Socket>();

  const server = createServer((near) => {
    const far = connect(mongodPort, "127.0.0.1");
    let awaited: { id: number; reached: (held: HeldMessage) => void } | undefined;
    const cut = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .setNoDelay(true)
        .on("error", cut)
        .on("close", () => (cut(), sockets.delete(socket)));
    }
    near.on(
      "data",
      messages((message) => {
        const command = commandOf(message);
        if (command !== undefined) onCommand(command.name, command.value);
        if (
          armed !== undefined &&
          command?.name === armed.moment.command &&
          (armed.moment.collection ?? command.value) === command.value
        ) {
          const { moment, reached } = armed;
          armed = undefined;
          if (moment.when === "before") return reached({ cut, release: () => void far.write(message) });
          awaited = { id: message.readInt32LE(4), reached };
        }
        far.write(message);
      }),
    );
    far.on(
      "data",
      messages((message) => {
        if (awaited !== undefined && message.readInt32LE(8) === awaited.id) {
          const { reached } = awaited;
          awaited = undefined;
          return reached({ cut, release: () => void near.write(message) });
        }
        near.write(message);
      }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    uri: directUri(uri, `127.0.0.1:${port}`),
    arm: (moment, act) =>
      new Promise((resolve) => {
        armed = {
          moment,
          reached(held) {
            act(held);
            resolve();
          },
        };
      }),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
