// A fault injector between an instance and its mongod: a proxy that breaks connections and replies with errors.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Socket, connect, createServer } from "node:net";
import type { Document } from "mongodb";
import { directUri } from "../../fixtures/databases/database.ts";
import type { ConnectionBreak, Fault } from "./kinds.ts";
import { acknowledges, errorDocument } from "./error-reply.ts";
import type { Command } from "./message.ts";
import { commandOf, documentOf, framed, hurryHeartbeat, repliesTo, reply } from "./message.ts";

/** Where a fault is injected. */
export interface Plan {
  readonly fault: Fault;
  /** The index of the command in the request, or the handshake or the login of a new connection. */
  readonly at: number | "handshake" | "login";
  /** How many commands to hit, starting at `at`, and the distance between them. Both are 1 by default. */
  readonly times?: number;
  readonly every?: number;
  /** The collection whose background commands the request waits for. */
  readonly background?: string | undefined;
}

/** The traffic since a plan was armed. */
export interface Armed {
  readonly commands: Command[];
  /** The commands into which the fault was injected. */
  readonly hits: Command[];
  disarm(): void;
}

export interface FaultProxy {
  /** The URI of the database through the proxy. */
  readonly uri: string;
  arm(plan: Plan | undefined, background?: string): Armed;
  /**
   * Closes the connections of the pool, so that the next command needs a handshake. The monitor's connections stay
   * open.
   */
  emptyPool(): Promise<void>;
  stop(): Promise<void>;
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  /** True once it has carried a command other than a heartbeat. */
  pooled: boolean;
  /** The request whose reply gets the fault. */
  awaited: { readonly command: Command; readonly fault: Fault } | undefined;
}

/** Hooks for the driver's socket writes by proxy port, for the one fault that a proxy cannot inject. */
const writers = new Map<number, (socket: Socket, bytes: Buffer) => boolean>();
const { write } = Socket.prototype;
Socket.prototype.write = function (this: Socket, ...given: Parameters<Socket["write"]>): boolean {
  const bytes: unknown = given[0];
  const writer = writers.size === 0 || this.remotePort === undefined ? undefined : writers.get(this.remotePort);
  if (writer !== undefined && Buffer.isBuffer(bytes) && bytes.length >= 16 && writer(this, bytes)) return false;
  return Reflect.apply(write, this, given) as boolean;
} as Socket["write"];

/** Starts a proxy to the mongod of this URI on 127.0.0.1. `hello` is its reply to the hello command. */
export async function startFaultProxy(uri: string, hello: Document): Promise<FaultProxy> {
  const mongodPort = Number(new URL(uri).port);
  const links = new Set<Link>();
  let plan: Plan | undefined;
  let armed: { readonly commands: Command[]; readonly hits: Command[]; openings: number } | undefined;
  let background: string | undefined;

  /** Counts a command and returns its fault, if any. */
  function faultFor(command: Command, isFirst: boolean): Fault | undefined {
    if (armed === undefined) return undefined;
    const opening = openingOf(command);
    const passes = opening === undefined ? isHousekeeping(command, background) : opening !== plan?.at;
    if (passes || (opening === "handshake" && !isFirst)) return undefined;
    const place = opening === undefined ? armed.commands.push(command) - 1 : armed.openings++;
    if (plan === undefined || (opening === undefined) !== (typeof plan.at === "number")) return undefined;
    const from = typeof plan.at === "number" ? plan.at : 0;
    const { fault, times = 1, every = 1 } = plan;
    if (place < from || (place - from) % every !== 0 || armed.hits.length >= times) return undefined;
    if (fault.kind === "reply" && fault.writeConcern === true && !acknowledges(command)) return undefined;
    armed.hits.push(command);
    return plan.fault;
  }

  function sever({ near, far }: Link, how: ConnectionBreak["how"]): void {
    far.destroy();
    if (how === "reset") near.resetAndDestroy();
    else near.end(() => near.destroy());
  }

  function breakUnder(link: Link, message: Buffer, command: Command, fault: ConnectionBreak): void {
    if (fault.place === "before it") return sever(link, fault.how);
    if (fault.place === "inside it")
      return void link.far.write(message.subarray(0, message.length >> 1), () => sever(link, fault.how));
    link.awaited = { command, fault };
    link.far.write(message);
  }

  function breakReply(link: Link, message: Buffer, { place, how }: ConnectionBreak): void {
    if (place === "after it") return sever(link, how);
    link.near.write(place === "inside the reply" ? message.subarray(0, message.length >> 1) : message, () =>
      sever(link, how),
    );
  }

  function onRequest(link: Link, message: Buffer, isFirst: boolean): void {
    const command = commandOf(message);
    if (command.name !== "hello") link.pooled = true;
    else hurryHeartbeat(message, heartbeatMs);
    const written = plan?.fault.kind === "break" && plan.fault.place === "while it is written";
    const fault = written ? undefined : faultFor(command, isFirst);
    if (fault === undefined) return void link.far.write(message);
    if (fault.kind === "break") return breakUnder(link, message, command, fault);
    if (fault.writeConcern !== true)
      return void link.near.write(reply(command.id, errorDocument(fault, command, hello)));
    link.awaited = { command, fault };
    link.far.write(message);
  }

  function onReply(link: Link, message: Buffer): void {
    if (link.awaited === undefined || repliesTo(message) !== link.awaited.command.id)
      return void link.near.write(message);
    const { fault, command } = link.awaited;
    link.awaited = undefined;
    if (fault.kind === "break") return breakReply(link, message, fault);
    const { code, codeName, labeled } = fault;
    const labels = labeled === true ? { errorLabels: ["RetryableWriteError"] } : {};
    link.near.write(
      reply(command.id, {
        ...documentOf(message),
        writeConcernError: { code, codeName, errmsg: "injected" },
        ...labels,
      }),
    );
  }

  const server = createServer((near) => {
    const link: Link = { near, far: connect(mongodPort, "127.0.0.1"), pooled: false, awaited: undefined };
    links.add(link);
    const end = (): void => {
      near.destroy();
      link.far.destroy();
      links.delete(link);
    };
    for (const socket of [near, link.far]) socket.setNoDelay(true).on("error", () => undefined);
    near.on("close", end);
    link.far.on("close", () => (near.writableEnded ? undefined : end()));
    let isFirst = true;
    near.on(
      "data",
      framed((message) => {
        const first = isFirst;
        isFirst = false;
        onRequest(link, message, first);
      }),
    );
    link.far.on(
      "data",
      framed((message) => onReply(link, message)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  writers.set(port, (socket, bytes) => {
    if (plan?.fault.kind !== "break" || plan.fault.place !== "while it is written") return false;
    if (faultFor(commandOf(bytes), false) === undefined) return false;
    const code = plan.fault.how === "reset" ? "ECONNRESET" : "EPIPE";
    process.nextTick(() => socket.destroy(Object.assign(new Error(`write ${code}`), { code })));
    return true;
  });

  return {
    uri: `${directUri(uri, `127.0.0.1:${port}`)}&minHeartbeatFrequencyMS=10`,
    arm(next, more) {
      const since = { commands: [], hits: [], openings: 0 };
      [plan, armed, background] = [next, since, next?.background ?? more];
      return {
        ...since,
        disarm() {
          if (armed === since) [plan, armed] = [undefined, undefined];
        },
      };
    },
    async emptyPool() {
      const pooled = [...links].filter((link) => link.pooled);
      const closed = Promise.all(pooled.map(({ near }) => near.closed || once(near, "close")));
      for (const link of pooled) sever(link, "close");
      await closed;
    },
    async stop() {
      writers.delete(port);
      for (const { near, far } of links) [near.destroy(), far.destroy()];
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** How soon the driver learns that a failed server is available. */
const heartbeatMs = 20;
const housekeeping = new Set(["endsessions", "killcursors", "killsessions"]);

/** The part of opening a connection that a command belongs to. */
function openingOf({ name }: Command): "handshake" | "login" | undefined {
  if (name === "hello") return "handshake";
  return name.startsWith("sasl") ? "login" : undefined;
}

function isHousekeeping({ name, background, collection }: Command, wanted: string | undefined): boolean {
  return housekeeping.has(name) || (background && collection !== wanted);
}
