// The release before, and what is known of it: both change with every release.

/** The commit that is in production: the last one before contacts had revisions. */
export const releasedCommit = "e8a8672b48349fef15a0098ece367d06d683b83d";

/**
 * What of its log is known and no news: a command that is read raw leaves the driver a topology version that it cannot
 * compare, so that the next command on a deposed primary fails with a TypeError instead of 503.
 */
export const knownFlaw = /compareTopologyVersion/;

/** What is said where this clone lacks the commit. */
export const withoutRelease = [
  `This clone lacks commit ${releasedCommit.slice(0, 12)}: test/drills/upgrade.test.ts is LEFT OUT.`,
  "Fetch the whole history (git fetch --unshallow).",
].join(" ");
