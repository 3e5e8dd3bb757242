// Parses the documents of a restore, and checks everything about them that the documents themselves show.
import type { Document, UUID } from "mongodb";
import { BSON, Binary } from "mongodb";
import { collections } from "../db/collections.ts";
import type { Deadline } from "../call/deadline.ts";
import type { Violation } from "../call/errors.ts";
import { rejectInput } from "../call/errors.ts";
import type { StoredDocument } from "../gen/records/admin/v1/backup_pb.ts";
import { createYielder } from "../large/pieces.ts";
import { requireNotPast } from "../call/deadline.ts";
import type { AnyContents } from "./contents.ts";
import { ownerField, rulesFor } from "./kept.ts";
import { checkDocument } from "./readable.ts";

/** More than every document without long texts: those of a page are in memory together. */
const maxUsualBytes = 2 * 2 ** 20;

/** A document of a batch. */
export interface Parsed {
  readonly collection: string;
  readonly contents: AnyContents;
  /** The document to write: its numbers keep their BSON types. */
  readonly stored: Document;
  /** The document as reads decode it. */
  readonly document: Document;
}

/**
 * Parses the documents of an account, or of the service if the id is undefined. Other requests run in between. Fails
 * with INVALID_REQUEST if one is not BSON, belongs to another account, is of a collection without backups, or could not
 * be read. Also fails if the active key comes without the account.
 */
export async function parse(
  documents: readonly StoredDocument[],
  accountId: UUID | undefined,
  deadline: Deadline,
): Promise<readonly Parsed[]> {
  const rules = rulesFor(accountId === undefined ? "service" : "account");
  const known = new Map(rules.map(({ collection, contents }) => [collection, contents]));
  const parsed: Parsed[] = [];
  const violations: Violation[] = [];
  const pauseIfDue = createYielder(() => requireNotPast(deadline));
  for (const [at, { collection, bson }] of documents.entries()) {
    const pause = pauseIfDue();
    if (pause !== undefined) await pause;
    const wrong = (rule: string, message: string): void =>
      void violations.push({ field: `documents[${at}]`, rule, message });
    const contents = known.get(collection);
    const stored = storedOf(bson);
    const { maxBytes = maxUsualBytes } = contents ?? {};
    if (contents === undefined) wrong("collection", "must belong to a collection that backups contain");
    else if (stored === undefined || bson.length > maxBytes)
      wrong("bson", `must be a document in BSON, of at most ${maxBytes / 2 ** 20} MiB`);
    else if (accountId !== undefined && !isSame(stored[ownerField(collection)], accountId))
      wrong("account", "must belong to the account being restored");
    else {
      const checked = await checkDocument(collection, contents, bson);
      if ("problem" in checked) wrong("readable", checked.problem);
      else parsed.push({ collection, contents, stored, document: checked.document });
    }
  }
  if (violations.length === 0) violations.push(...keyViolations(parsed));
  if (violations.length > 0) rejectInput(violations);
  return parsed;
}

/** Returns the account among the documents. */
export function accountIn(parsed: readonly Parsed[]): Document | undefined {
  return parsed.find(({ collection }) => collection === collections.accounts)?.document;
}

/** Returns what is wrong with the account and its active key, which are restored together and fit together. */
function keyViolations(parsed: readonly Parsed[]): Violation[] {
  const account = accountIn(parsed);
  return parsed.flatMap(({ collection, document }, at) => {
    const wrong = (message: string): Violation[] => [{ field: `documents[${at}]`, rule: "account", message }];
    if (collection === collections.accounts && document !== account) return wrong("must be the only account");
    if (collection !== collections.apiKeys || document["active"] !== true) return [];
    if (account === undefined) return wrong("must come with the document of the account, because it is the active key");
    // A key that is not suspended would open a suspended account.
    if ((document["suspended"] === true) !== (account["suspension"] !== undefined))
      return wrong("must be suspended exactly if its account is");
    return [];
  });
}

/** Parses a document so that numbers keep their BSON types. Returns undefined if it is invalid. */
function storedOf(bson: Uint8Array): Document | undefined {
  try {
    return BSON.deserialize(bson, { promoteValues: false });
  } catch {
    return undefined;
  }
}

function isSame(value: unknown, id: UUID): boolean {
  return value instanceof Binary && value.sub_type === Binary.SUBTYPE_UUID && id.equals(value.buffer);
}
