// The provider's store: bounded and in memory until entries expire, and for registered clients also in a file.
import type { Adapter, AdapterFactory, AdapterPayload, AllClientMetadata } from "oidc-provider";
import { DASHBOARD_ID } from "./clients.ts";
import type { Folder } from "./folder.ts";

/** The provider's store. */
export interface Store {
  readonly adapter: AdapterFactory;
  /** Returns the shelf for one kind of entry, of the library or ours. */
  shelf(kind: string): Shelf;
  /** Ends all sessions and grants of a user. Returns the dashboard's ids (`sid`) of those sessions. */
  endUserSessions(subject: string): string[];
  /** Ends the grants of a session, including those for offline access. */
  endSession(uid: string, grantIds: readonly string[]): void;
  /** Returns the time of a user's last sign-out, in whole seconds since 1970, or -Infinity if there was none. */
  signedOutAt(subject: string): number;
}

/** Entries of one kind, the newest last. */
export interface Shelf {
  get(id: string): AdapterPayload | undefined;
  /** Without a time to live, the entry stays as long as there is room. */
  put(id: string, payload: AdapterPayload, secondsToLive?: number): void;
  remove(id: string): void;
  removeWhere(matches: (payload: AdapterPayload) => boolean): void;
  find(matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined;
  entries(): [id: string, payload: AdapterPayload][];
}

/** The kind of entry for access tokens issued for the MCP server. The library does not store tokens that are JWTs. */
export const ISSUED_TOKENS = "IssuedToken";

/** The kinds of grants and everything that depends on them. */
const GRANTED = ["Grant", "AuthorizationCode", "AccessToken", "RefreshToken", ISSUED_TOKENS] as const;

/** More entries than the users of one machine need, and a bound on the cost of a runaway program. */
const MOST = 5_000;
const MOST_CLIENTS = 200;

/**
 * Creates a store with the registered clients of the folder. `ownClient` is looked up first: nobody registers that
 * client, and it changes when its address becomes known.
 */
export async function createStore(
  folder: Folder,
  ownClient: (id: string) => AllClientMetadata | undefined,
): Promise<Store> {
  const shelves = new Map<string, Shelf>();
  const shelf = (kind: string): Shelf => {
    const known = shelves.get(kind) ?? createShelf(kind === "Client" ? MOST_CLIENTS : MOST);
    shelves.set(kind, known);
    return known;
  };
  const clients = shelf("Client");
  const kept = await folder.read("clients");
  for (const client of Array.isArray(kept) ? (kept as AdapterPayload[]) : []) {
    if (typeof client?.client_id === "string") clients.put(client.client_id, client);
  }
  const signedOut = new Map<string, number>();
  const signedOutAt = (subject: string): number => signedOut.get(subject) ?? -Infinity;
  const keepClients = (): Promise<void> =>
    folder.write(
      "clients",
      clients.entries().map(([, client]) => client),
    );

  return {
    adapter: (kind) => createAdapter(kind, { shelf, signedOutAt, ownClient, keepClients }),
    shelf,
    endUserSessions(subject) {
      signedOut.set(subject, now());
      const sids = shelf("Session")
        .entries()
        .flatMap(([, { accountId, authorizations }]) =>
          accountId === subject ? (authorizations?.[DASHBOARD_ID]?.sid ?? []) : [],
        );
      for (const kind of ["Session", ...GRANTED]) shelf(kind).removeWhere(({ accountId }) => accountId === subject);
      shelf("Interaction").removeWhere(
        ({ session, result }) => session?.accountId === subject || result?.["login"]?.accountId === subject,
      );
      return sids;
    },
    endSession(uid, grantIds) {
      const ended = new Set(grantIds);
      for (const kind of GRANTED)
        for (const [, { sessionUid, grantId }] of shelf(kind).entries())
          if (sessionUid === uid && grantId !== undefined) ended.add(grantId);
      for (const id of ended) shelf("Grant").remove(id);
      for (const kind of GRANTED) shelf(kind).removeWhere(({ grantId }) => grantId !== undefined && ended.has(grantId));
    },
    signedOutAt,
  };
}

/** The dependencies of an adapter. */
interface AdapterDependencies extends Pick<Store, "shelf" | "signedOutAt"> {
  readonly ownClient: (id: string) => AllClientMetadata | undefined;
  readonly keepClients: () => Promise<void>;
}

function createAdapter(kind: string, { shelf, signedOutAt, ownClient, keepClients }: AdapterDependencies): Adapter {
  const things = shelf(kind);
  return {
    async upsert(id, payload, secondsToLive) {
      // A request that began before the sign-out could store its session again.
      if (kind === "Session" && Number(payload.loginTs) <= signedOutAt(String(payload.accountId))) return;
      things.put(id, payload, secondsToLive);
      if (kind === "Client") await keepClients();
    },
    find: async (id) => (kind === "Client" ? ownClient(id) : undefined) ?? things.get(id),
    findByUid: async (uid) => things.find((payload) => payload.uid === uid),
    // Only devices without a browser have a user code, and they are not supported.
    findByUserCode: async () => undefined,
    async consume(id) {
      const payload = things.get(id);
      if (payload !== undefined)
        things.put(id, { ...payload, consumed: now() }, payload.exp === undefined ? undefined : payload.exp - now());
    },
    async destroy(id) {
      things.remove(id);
      if (kind === "Client") await keepClients();
    },
    async revokeByGrantId(grantId) {
      things.removeWhere((payload) => payload.grantId === grantId);
      if (kind === "AccessToken") shelf(ISSUED_TOKENS).removeWhere((payload) => payload.grantId === grantId);
    },
  };
}

function createShelf(most: number): Shelf {
  // Stored as text, so that the library's later changes to an object do not change the stored entry.
  const things = new Map<string, { text: string; until: number }>();
  const removeOldest = (): void => {
    for (const [id, { until }] of things) {
      if (until <= now()) things.delete(id);
    }
    for (const id of things.keys()) {
      if (things.size <= most) return;
      things.delete(id);
    }
  };
  const entries = (): [string, AdapterPayload][] =>
    [...things].flatMap(([id, { text, until }]) =>
      until > now() ? [[id, JSON.parse(text) as AdapterPayload] as [string, AdapterPayload]] : [],
    );
  return {
    get(id) {
      const thing = things.get(id);
      return thing === undefined || thing.until <= now() ? undefined : (JSON.parse(thing.text) as AdapterPayload);
    },
    put(id, payload, secondsToLive) {
      things.delete(id);
      things.set(id, {
        text: JSON.stringify(payload),
        until: secondsToLive === undefined ? Infinity : now() + secondsToLive,
      });
      if (things.size > most) removeOldest();
    },
    remove: (id) => void things.delete(id),
    removeWhere(matches) {
      for (const [id, payload] of entries()) if (matches(payload)) things.delete(id);
    },
    find: (matches) => entries().find(([, payload]) => matches(payload))?.[1],
    entries,
  };
}

function now(): number {
  return Math.floor(Date.now() / 1_000);
}
