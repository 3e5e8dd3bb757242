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
  /** The peers that serve it. Connections are distributed among them. */
  readonly peers: readonly PeerName[];
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
  /** Sessions that have a transcript. */
  readonly transcriptIds: readonly string[];
}

export function linesOf(data: RequestData): readonly Line[] {
  return [...readLines(data), ...writeLines(data), ...rpcLines(data)];
}

const connections = 16;
const read = { connections, writes: false };
const write = { connections, writes: true };

function readLines({ account, key, transcriptIds }: RequestData): Line[] {
  const get = requests.getContact(account, key);
  const two: Subject = {
    ...subject("ours", get),
    name: "ours-two",
    title: "Records, two instances",
    peers: ["ours", "ours2"],
  };
  return [
    {
      ...read,
      name: "get",
      title: "GET contact, 16 connections",
      subjects: each(get, "floorBucket", "floor", "floor3", "fastify", "fastifyAgg"),
    },
    {
      ...read,
      name: "get-1",
      title: "GET contact, 1 connection",
      connections: 1,
      subjects: each(get, "floorBucket", "fastify"),
    },
    {
      ...read,
      name: "get-64",
      title: "GET contact, 64 connections",
      connections: 64,
      subjects: each(get, "floorBucket", "fastify"),
    },
    {
      ...read,
      name: "two",
      title: "GET contact, two instances on the two cores",
      subjects: [subject("ours", get), two],
    },
    {
      ...read,
      name: "sessions",
      title: "GET sessions",
      subjects: each(requests.listSessions(key), "floorBucket", "floor", "fastify"),
    },
    {
      ...read,
      name: "contacts",
      title: "Search contacts, 25 with their notes and sessions",
      subjects: each(requests.searchContacts(key), "floor", "floor3", "fastify"),
    },
    {
      ...read,
      name: "notes",
      title: "Search notes",
      subjects: each(requests.searchNotes(key), "floor", "fastify"),
    },
    {
      ...read,
      name: "transcript",
      title: "GET transcript of 1 MB, gzip accepted",
      subjects: each(requests.getTranscript(transcriptIds, key), "floor"),
    },
  ];
}

function writeLines({ writeKey, writeContactIds }: RequestData): Line[] {
  const created = requests.createContact(writeKey, false);
  const keyed = requests.createContact(writeKey, true);
  const unkeyed: Subject = { ...subject("ours", created), name: "ours-no-key", title: "Records, without a key" };
  return [
    {
      ...write,
      name: "create",
      title: "Create contact",
      subjects: each(created, "floor", "bare", "fastify"),
    },
    {
      ...write,
      name: "create-key",
      title: "Create contact with an Idempotency-Key",
      subjects: [...each(keyed, "fastify"), unkeyed],
    },
    {
      ...write,
      name: "append",
      title: "Append note",
      subjects: each(requests.appendNote(writeContactIds, writeKey), "floor", "fastify"),
    },
  ];
}

function rpcLines({ account, key }: RequestData): Line[] {
  const rest: Subject = {
    ...subject("ours", requests.getContact(account, key)),
    name: "ours-rest",
    title: "Records, over REST",
  };
  return [
    {
      ...read,
      name: "connect",
      title: "GetContact by Connect's JSON",
      subjects: [...each(requests.getContactByConnect(account, key), "connect").map(inForm("connect")), rest],
    },
    {
      ...read,
      name: "grpc",
      title: "GetContact by gRPC",
      subjects: [...each(requests.getContactByGrpc(account, key), "connectHttp2").map(inForm("grpc")), rest],
    },
  ];
}

/** The service and the peers that it is compared with, all with the same requests. */
function each(load: readonly LoadRequest[], ...others: readonly PeerName[]): Subject[] {
  return [subject("ours", load), ...others.map((peer) => subject(peer, load))];
}

function subject(peer: PeerName, load: readonly LoadRequest[]): Subject {
  return { name: peer, title: peerTitles[peer], peers: [peer], requests: load, form: "rest" };
}

function inForm(form: Subject["form"]): (subject: Subject) => Subject {
  return (one) => ({ ...one, form });
}
