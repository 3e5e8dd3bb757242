// The provider's store: bounded and in memory until entries expire. Registered clients, sessions and grants are also in
// files, so that a restart signs nobody out.
import type { Adapter, AdapterPayload, AllClientMetadata } from "oidc-provider";
import { DASHBOARD_ID } from "./clients.ts";
import type { Folder } from "./folder.ts";

/** The provider's store. */
export type Store = Awaited<ReturnType<typeof createStore>>;

/** Entries of one kind, the newest last. */
type Table = ReturnType<typeof createTable>;

/** An entry and its end, in whole seconds since 1970 or Infinity. */
type StoredEntry = readonly [id: string, payload: AdapterPayload, until: number];

/** The kind of entry for access tokens issued for the MCP server. The library does not store tokens that are JWTs. */
export const ISSUED_TOKENS = "IssuedToken";

/** The kinds of grants and everything that depends on them. */
const GRANTED = ["Grant", "AuthorizationCode", "AccessToken", "RefreshToken", ISSUED_TOKENS] as const;
/** The kinds of entries that survive a restart. */
const KEPT: readonly string[] = ["Session", "Grant", "AccessToken", "RefreshToken", ISSUED_TOKENS];

/** More entries than the users of one machine need, and a bound on the cost of a runaway program. */
const MAX_ENTRIES = 5_000;
const MAX_CLIENTS = 200;
/**
 * For how long a refresh token may be used again, in seconds. Clients send several requests at once, or repeat one whose
 * response they lost.
 */
const REUSE_SECONDS = 10;

/**
 * Creates a store with the registered clients of the folder. `ownClient` is looked up first: nobody registers that
 * client, and it changes when its address becomes known.
 */
export async function createStore(folder: Folder, ownClient: (id: string) => AllClientMetadata | undefined) {
  const tables = new Map<string, Table>();
  /** Returns the table for one kind of entry, of the library or ours. */
  const table = (kind: string): Table => {
    const known = tables.get(kind) ?? createTable(kind === "Client" ? MAX_CLIENTS : MAX_ENTRIES);
    tables.set(kind, known);
    return known;
  };
  const clients = table("Client");
  const kept = await folder.read("clients");
  for (const client of Array.isArray(kept) ? (kept as AdapterPayload[]) : []) {
    if (typeof client?.client_id === "string") clients.put(client.client_id, client);
  }
  const grants = (await folder.read("grants")) as Readonly<Record<string, readonly StoredEntry[]>> | undefined;
  for (const kind of KEPT)
    for (const [id, payload, until] of Array.isArray(grants?.[kind]) ? grants[kind] : [])
      if (until > now()) table(kind).put(id, payload, until - now());
  let next: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /**
   * Resolves once the file has the current sessions and grants. Never rejects. While a write is under way, all further
   * changes wait for the same next one.
   */
  const keep = (): Promise<void> => {
    next ??= last = last
      .then(() => {
        next = undefined;
        return folder.write(
          "grants",
          Object.fromEntries(
            KEPT.map((kind) => [
              kind,
              table(kind)
                .entries()
                .filter(([, , until]) => until < Infinity),
            ]),
          ),
        );
      })
      .catch(() => undefined);
    return next;
  };
  const signedOut = new Map<string, number>();
  /** Returns the time of a user's last sign-out, in whole seconds since 1970, or -Infinity if there was none. */
  const signedOutAt = (subject: string): number => signedOut.get(subject) ?? -Infinity;
  const keepClients = (): Promise<void> =>
    folder.write(
      "clients",
      clients.entries().map(([, client]) => client),
    );

  return {
    adapter: (kind: string) => createAdapter(kind, { table, signedOutAt, ownClient, keepClients, keep }),
    table,
    keep,
    /** Ends all sessions and grants of a user. Returns the dashboard's ids (`sid`) of those sessions. */
    endUserSessions(subject: string): string[] {
      signedOut.set(subject, now());
      const sids = table("Session")
        .entries()
        .flatMap(([, { accountId, authorizations }]) =>
          accountId === subject ? (authorizations?.[DASHBOARD_ID]?.sid ?? []) : [],
        );
      for (const kind of ["Session", ...GRANTED]) table(kind).removeWhere(({ accountId }) => accountId === subject);
      table("Interaction").removeWhere(
        ({ session, result }) => session?.accountId === subject || result?.["login"]?.accountId === subject,
      );
      void keep();
      return sids;
    },
    /** Ends the grants of a session, including those for offline access. */
    endSession(uid: string, grantIds: readonly string[]): void {
      const ended = new Set(grantIds);
      for (const kind of GRANTED)
        for (const [, { sessionUid, grantId }] of table(kind).entries())
          if (sessionUid === uid && grantId !== undefined) ended.add(grantId);
      for (const id of ended) table("Grant").remove(id);
      for (const kind of GRANTED) table(kind).removeWhere(({ grantId }) => grantId !== undefined && ended.has(grantId));
      void keep();
    },
    signedOutAt,
  };
}

/** The dependencies of an adapter. */
interface AdapterDependencies {
  readonly table: (kind: string) => Table;
  readonly signedOutAt: (subject: string) => number;
  readonly keep: () => Promise<void>;
  readonly ownClient: (id: string) => AllClientMetadata | undefined;
  readonly keepClients: () => Promise<void>;
}

function createAdapter(kind: string, dependencies: AdapterDependencies): Adapter {
  const { table, signedOutAt, ownClient, keepClients, keep } = dependencies;
  const rows = table(kind);
  const changed = async (): Promise<void> => {
    if (kind === "Client") await keepClients();
    else if (KEPT.includes(kind)) await keep();
  };
  return {
    async upsert(id, payload, secondsToLive) {
      // A request that began before the sign-out could store its session again.
      if (kind === "Session" && Number(payload.loginTs) <= signedOutAt(String(payload.accountId))) return;
      rows.put(id, payload, secondsToLive);
      await changed();
    },
    async find(id) {
      if (kind === "Client") return ownClient(id) ?? rows.get(id);
      const found = rows.get(id);
      const { consumed, ...unused } = found ?? {};
      // The library ends the whole grant when a consumed token is used.
      if (kind === "RefreshToken" && now() - Number(consumed) <= REUSE_SECONDS) return unused;
      return found;
    },
    findByUid: async (uid) => rows.find((payload) => payload.uid === uid),
    // Only devices without a browser have a user code, and they are not supported.
    findByUserCode: async () => undefined,
    async consume(id) {
      const payload = rows.get(id);
      if (payload === undefined || payload.consumed !== undefined) return;
      rows.put(id, { ...payload, consumed: now() }, payload.exp === undefined ? undefined : payload.exp - now());
      await changed();
    },
    async destroy(id) {
      rows.remove(id);
      await changed();
    },
    async revokeByGrantId(grantId) {
      rows.removeWhere((payload) => payload.grantId === grantId);
      if (kind === "AccessToken") table(ISSUED_TOKENS).removeWhere((payload) => payload.grantId === grantId);
      await changed();
    },
  };
}

function createTable(maxEntries: number) {
  // Stored as text, so that the library's later changes to an object do not change the stored entry.
  const rows = new Map<string, { text: string; until: number }>();
  const removeOldest = (): void => {
    for (const [id, { until }] of rows) {
      if (until <= now()) rows.delete(id);
    }
    for (const id of rows.keys()) {
      if (rows.size <= maxEntries) return;
      rows.delete(id);
    }
  };
  const entries = (): StoredEntry[] =>
    [...rows].flatMap(([id, { text, until }]) =>
      until > now() ? [[id, JSON.parse(text) as AdapterPayload, until] as const] : [],
    );
  return {
    entries,
    get(id: string): AdapterPayload | undefined {
      const row = rows.get(id);
      return row === undefined || row.until <= now() ? undefined : (JSON.parse(row.text) as AdapterPayload);
    },
    /** Without a time to live, the entry stays as long as there is room. */
    put(id: string, payload: AdapterPayload, secondsToLive?: number): void {
      rows.delete(id);
      rows.set(id, {
        text: JSON.stringify(payload),
        until: secondsToLive === undefined ? Infinity : now() + secondsToLive,
      });
      if (rows.size > maxEntries) removeOldest();
    },
    remove: (id: string): void => void rows.delete(id),
    removeWhere(matches: (payload: AdapterPayload) => boolean): void {
      for (const [id, payload] of entries()) if (matches(payload)) rows.delete(id);
    },
    find: (matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined =>
      entries().find(([, payload]) => matches(payload))?.[1],
  };
}

function now(): number {
  return Math.floor(Date.now() / 1_000);
}
