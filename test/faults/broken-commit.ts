// Commits that are broken on purpose: the same tests have to catch them, or they could not have caught a fault of ours.
import type { ClientSession, MongoClient } from "mongodb";
import type * as Write from "../../src/db/write.ts";

/** How a commit is broken. */
export type Breakage = "by the primary alone" | "claim after the resource";

let breakage: Breakage | undefined;

/** Breaks every commit from now on; undefined mends them. */
export function breakCommit(how: Breakage | undefined): void {
  breakage = how;
}

/** The module, with a commit that can be broken. */
export function breakable(real: typeof Write): typeof Write {
  const commit: typeof Write.commit = (client, scope, answer, work, options) => {
    const claim = answer === undefined ? undefined : scope.claim?.document(answer);
    if (breakage === undefined || claim === undefined) return real.commit(client, scope, answer, work, options);
    const insertClaim = (session?: ClientSession): Promise<unknown> =>
      client.db().collection<{ _id: object }>(real.claimsCollection).updateOne({ _id: claim._id }, { $set: { ...without(claim), created_at: new Date() } }, { upsert: true, ...(session && { session }) });
    return breakage === "claim after the resource" ? thenClaim(work, insertClaim) : byPrimary(client, work, insertClaim);
  };
  return { ...real, commit };
}

async function thenClaim<T>(work: Write.Work<T>, insertClaim: () => Promise<unknown>): Promise<T> {
  const result = await work(undefined);
  await insertClaim();
  return result;
}

async function byPrimary<T>(client: MongoClient, work: Write.Work<T>, insertClaim: (session: ClientSession) => Promise<unknown>): Promise<T> {
  return client.withSession(async (session) => {
    session.startTransaction({ writeConcern: { w: 1 } });
    await insertClaim(session);
    const result = await work(session);
    await session.commitTransaction();
    return result;
  });
}

function without<T extends { readonly _id: unknown }>({ _id, ...rest }: T): Omit<T, "_id"> {
  return rest;
}
