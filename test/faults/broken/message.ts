// MongoDB's wire protocol: splits a stream into messages, reads the command of a request, writes replies.
import type { Document } from "mongodb";
import { BSON } from "mongodb";

export interface Command {
  /** The lowercase name. `hello` and `isMaster` are handshakes and heartbeats. */
  readonly name: string;
  /** The collection; empty if there is none. */
  readonly collection: string;
  /** The request id, which the reply refers to. */
  readonly id: number;
  /** True for background work, which the service marks. */
  readonly background: boolean;
  readonly inTransaction: boolean;
  readonly retryable: boolean;
}

const opMsg = 2013;
const headLength = 16;
/** The BSON string "watch" as a value: its length, the text and a NUL. */
const watch = Buffer.from("\x06\0\0\0watch\0", "latin1");

/** Splits a stream into messages, which start with their length. */
export function framed(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      onMessage(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}

/** The command of a request. Another opcode is the driver's handshake. */
export function commandOf(message: Buffer): Command {
  const id = message.readInt32LE(4);
  const rest = {
    id,
    background: message.includes(watch),
    inTransaction: has(message, "autocommit"),
    retryable: has(message, "txnNumber"),
  };
  if (message.readInt32LE(12) !== opMsg || message[20] !== 0) return { ...rest, name: "hello", collection: "" };
  const end = message.indexOf(0, 26);
  const name = message.toString("latin1", 26, end).toLowerCase();
  // Type 2 is a string: four bytes of length, then the text and a NUL.
  const collection = message[25] === 2 ? message.toString("utf8", end + 5, message.indexOf(0, end + 5)) : "";
  return { ...rest, name: name === "ismaster" ? "hello" : name, collection };
}

const awaitTime = Buffer.from("maxAwaitTimeMS\0", "latin1");

/** Makes the server reply to a heartbeat after `ms` instead of seconds. */
export function hurryHeartbeat(message: Buffer, ms: number): void {
  const at = message.indexOf(awaitTime);
  // Type 16 is an integer of 32 bits.
  if (at > 0 && message[at - 1] === 16) message.writeInt32LE(ms, at + awaitTime.length);
}

/** The id of the request that a reply is for. */
export function repliesTo(message: Buffer): number {
  return message.readInt32LE(8);
}

export function reply(to: number, document: Document): Buffer {
  const body = BSON.serialize(document);
  const message = Buffer.alloc(headLength + 5 + body.length);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(to, 8);
  message.writeInt32LE(opMsg, 12);
  message.set(body, headLength + 5);
  return message;
}

/** The document of a reply, with the server's BSON types. */
export function documentOf(message: Buffer): Document {
  return BSON.deserialize(message.subarray(headLength + 5), { promoteValues: false });
}

function has(message: Buffer, field: string): boolean {
  return message.includes(`${field}\0`, headLength, "latin1");
}
