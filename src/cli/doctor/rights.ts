// Compares the rights of the service's user in MongoDB with the rights that the service needs on each collection.
import type { Document } from "mongodb";
import { MongoServerError } from "mongodb";
import type { Verdict } from "./check.ts";
import { fault, note, ok } from "./check.ts";
import { reasonOf } from "./reason.ts";

/** The actions that the service needs on each of its collections. The role readWrite includes them all. */
const needed = ["find", "insert", "update", "remove", "createIndex", "dropIndex", "listIndexes"] as const;

interface Privilege {
  readonly resource: { readonly db?: string; readonly collection?: string; readonly anyResource?: boolean };
  readonly actions: readonly string[];
}

/** Returns the verdict on a reply to `connectionStatus` with privileges, a command that any user may run. */
export function compareRights({ authInfo }: Document, database: string, collections: readonly string[]): Verdict {
  const { authenticatedUsers: users, authenticatedUserPrivileges: privileges } = authInfo as {
    readonly authenticatedUsers: readonly { readonly user: string }[];
    readonly authenticatedUserPrivileges?: readonly Privilege[];
  };
  const [user] = users.map((one) => one.user);
  if (user === undefined)
    return note(
      "MONGODB_URI names no user, so every client on its network may read the records.",
      "For production, create a user with readWrite for the service.",
    );
  if (privileges === undefined) return note(`MongoDB does not show the rights of the user ${user}.`);
  const missing = new Map<string, string[]>();
  for (const collection of collections) {
    const actions = missingOn(privileges, database, collection).join(", ");
    if (actions !== "") missing.set(actions, [...(missing.get(actions) ?? []), collection]);
  }
  if (missing.size === 0) return ok(`The user ${user} has every right that the service needs.`);
  const each = [...missing].map(
    ([actions, on]) =>
      `${actions} on ${on.length === collections.length ? `every collection of ${database}` : on.join(", ")}`,
  );
  return fault(
    `The user ${user} lacks rights: ${each.join("; ")}.`,
    `Grant readWrite on ${database}, in mongosh: db.grantRolesToUser("${user}", [{ role: "readWrite", db: "${database}" }]).`,
  );
}

function missingOn(privileges: readonly Privilege[], database: string, collection: string): string[] {
  const granted = new Set(
    privileges.filter(({ resource }) => covers(resource, database, collection)).flatMap(({ actions }) => actions),
  );
  return granted.has("anyAction") ? [] : needed.filter((action) => !granted.has(action));
}

/** Returns whether a resource includes a collection. An empty name means every database or every collection. */
function covers(
  { db, collection: of, anyResource }: Privilege["resource"],
  database: string,
  collection: string,
): boolean {
  return anyResource === true || ((db === "" || db === database) && (of === "" || of === collection));
}

/**
 * Returns the explanation of a check of MongoDB that read nothing: `denied` if the user lacks a privilege (code 13,
 * Unauthorized), otherwise a fault with the reason.
 */
export function unread(denied: Verdict, what: string, fix = "See the line on the primary first.") {
  return (error: unknown): Verdict =>
    error instanceof MongoServerError && error.code === 13 ? denied : fault(`${what}: ${reasonOf(error)}.`, fix);
}
