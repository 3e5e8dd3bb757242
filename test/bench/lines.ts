// The lines of the bench: the requests, the subjects to compare, and the number of connections.
import type { AccountPlan } from "./dataset/accounts.ts";
import type { LoadRequest } from "./load/load.ts";
import type { PeerName } from "./peers/peers.ts";
import { peerTitles } from "./peers/peers.ts";
import * as requests from "./requests.ts";

/** A subject that a line compares. */
export interface Subject {
  /** Identifies the subject within its line. Goals refer to it. */
  readonly name: string;
  readonly title: string;
  /** The peer that serves it. */
  readonly peer: PeerName;
  readonly requests: readonly LoadRequest[];
  /** Subjects with the same form must return the same responses. */
  readonly form: "rest" | "connect" | "grpc";
}

/** A line: one subject, and those that it is compared with. */
export interface Line {
  readonly name: string;
  readonly title: string;
  readonly connections: number;
  /** Whether responses contain generated ids and times. */
  readonly writes: boolean;
  /** The first is compared with each of the others. */
  readonly subjects: readonly Subject[];
}

export interface RequestData {
  readonly account: AccountPlan;
  readonly key: string;
  readonly writeKey: string;
  /** Contacts of the account that is written to. */
  readonly writeContactIds: readonly string[];
}

const connections = 16;
const read = { connections, writes: false };
const write = { connections, writes: true };

export function linesOf({ account, key, writeKey, writeContactIds }: RequestData): readonly Line[] {
  const get = requests.getContact(account, key);
  const rest: Subject = { ...subject("ours", get), name: "ours-rest", title: "Records, over REST" };
  const connect: Subject = { ...subject("ours", requests.getContactByConnect(account, key)), form: "connect" };
  const grpc: Subject = { ...subject("ours", requests.getContactByGrpc(account, key)), form: "grpc" };
  return [
    {
      ...read,
      name: "get",
      title: "GET contact, 16 connections",
      subjects: each(get, "floorBucket", "fastify", "fastifyAgg"),
    },
    {
      ...read,
      name: "sessions",
      title: "GET sessions",
      subjects: each(requests.listSessions(key), "floorBucket", "fastify"),
    },
    {
      ...read,
      name: "contacts",
      title: "Search contacts, 25 with their notes and sessions",
      subjects: each(requests.searchContacts(key), "fastify"),
    },
    { ...read, name: "notes", title: "Search notes", subjects: each(requests.searchNotes(key), "fastify") },
    {
      ...write,
      name: "create",
      title: "Create contact",
      subjects: each(requests.createContact(writeKey, false), "fastify"),
    },
    {
      ...write,
      name: "create-key",
      title: "Create contact with an Idempotency-Key",
      subjects: each(requests.createContact(writeKey, true), "fastify"),
    },
    {
      ...write,
      name: "append",
      title: "Append note",
      subjects: each(requests.appendNote(writeContactIds, writeKey), "fastify"),
    },
    { ...read, name: "connect", title: "GetContact by Connect's JSON", subjects: [connect, rest] },
    { ...read, name: "grpc", title: "GetContact by gRPC", subjects: [grpc, rest] },
  ];
}

/** The service and the peers that it is compared with, all with the same requests. */
function each(load: readonly LoadRequest[], ...others: readonly PeerName[]): Subject[] {
  return [subject("ours", load), ...others.map((peer) => subject(peer, load))];
}

function subject(peer: PeerName, load: readonly LoadRequest[]): Subject {
  return { name: peer, title: peerTitles[peer], peer, requests: load, form: "rest" };
}
