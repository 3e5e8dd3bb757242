// The lines of the bench: what is asked, of whom, and over how many connections.
import type { AccountPlan } from "./dataset/accounts.ts";
import type { LoadRequest } from "./load/load.ts";
import type { PeerName } from "./peers/peers.ts";
import { peerTitles } from "./peers/peers.ts";
import * as requests from "./requests.ts";

/** One of those that a line compares. */
export interface Subject {
  /** Tells the subjects of a line apart; goals name them by it. */
  readonly name: string;
  readonly title: string;
  /** Who answers; between several of them the connections are dealt out. */
  readonly peers: readonly PeerName[];
  readonly requests: readonly LoadRequest[];
  /** Subjects with the same form have to give the same answers. */
  readonly form: "rest" | "connect" | "grpc";
}

/** One comparison. */
export interface Line {
  readonly name: string;
  readonly title: string;
  readonly connections: number;
  /** Ids and times of the answers are the server's own. */
  readonly writes: boolean;
  readonly subjects: readonly Subject[];
}

/** What requests are made from. */
export interface Asked {
  readonly account: AccountPlan;
  readonly key: string;
  readonly writeKey: string;
  /** Contacts of the account that is written to. */
  readonly writeContactIds: readonly string[];
  /** Sessions that have a transcript. */
  readonly transcriptIds: readonly string[];
}

/** All lines. */
export function linesOf({ account, key, writeKey, writeContactIds, transcriptIds }: Asked): readonly Line[] {
  const get = requests.getContact(account, key);
  const connections = 16;
  const write = { connections, writes: true };
  const read = { connections, writes: false };
  const created = requests.createContact(writeKey, false);
  return [
    {
      ...read,
      name: "get",
      title: "GET contact, 16 connections",
      subjects: each(get, "ours", "floor", "floor3", "fastify", "fastifyAgg", "go"),
    },
    {
      ...read,
      name: "get-1",
      title: "GET contact, 1 connection",
      connections: 1,
      subjects: each(get, "ours", "floor", "fastify"),
    },
    {
      ...read,
      name: "get-64",
      title: "GET contact, 64 connections",
      connections: 64,
      subjects: each(get, "ours", "floor", "fastify"),
    },
    {
      ...read,
      name: "two",
      title: "GET contact, two instances on the two cores",
      subjects: [
        ...each(get, "ours"),
        { ...subject("ours", get), name: "ours-two", title: "Records, two instances", peers: ["ours", "ours2"] },
      ],
    },
    {
      ...read,
      name: "sessions",
      title: "GET sessions",
      subjects: each(requests.listSessions(key), "ours", "floor", "fastify", "go"),
    },
    {
      ...read,
      name: "contacts",
      title: "Search contacts, 25 with their notes and sessions",
      subjects: each(requests.searchContacts(key), "ours", "floor", "floor3", "fastify", "go"),
    },
    {
      ...read,
      name: "notes",
      title: "Search notes",
      subjects: each(requests.searchNotes(key), "ours", "floor", "fastify"),
    },
    {
      ...{ ...write, name: "create", title: "Create contact" },
      subjects: [
        ...each(created, "ours"),
        {
          ...subject("ours", requests.createContact(writeKey, true)),
          name: "ours-key",
          title: "Records, with an Idempotency-Key",
        },
        ...each(created, "floor", "bare", "fastify", "go"),
      ],
    },
    {
      ...write,
      name: "append",
      title: "Append note",
      subjects: each(requests.appendNote(writeContactIds, writeKey), "ours", "floor", "fastify"),
    },
    {
      ...{ ...read, name: "connect", title: "GetContact by Connect's JSON" },
      subjects: [
        ...each(requests.getContactByConnect(account, key), "ours", "connect").map((one) => ({
          ...one,
          form: "connect" as const,
        })),
        { ...subject("ours", get), name: "ours-rest", title: "Records, over REST" },
      ],
    },
    {
      ...read,
      name: "grpc",
      title: "GetContact by gRPC",
      subjects: each(requests.getContactByGrpc(account, key), "ours", "connectHttp2").map((one) => ({
        ...one,
        form: "grpc" as const,
      })),
    },
    {
      ...read,
      name: "transcript",
      title: "GET transcript of 1 MB, gzip accepted",
      subjects: each(requests.getTranscript(transcriptIds, key), "ours", "floor"),
    },
  ];
}

function each(asked: readonly LoadRequest[], ...peers: readonly PeerName[]): Subject[] {
  return peers.map((peer) => subject(peer, asked));
}

function subject(peer: PeerName, asked: readonly LoadRequest[]): Subject {
  return { name: peer, title: peerTitles[peer], peers: [peer], requests: asked, form: "rest" };
}
