// The previous release and its known flaws. Both change with every release.

/** The last release: the last commit before contacts had revisions. */
export const releasedCommit = "e8a8672b48349fef15a0098ece367d06d683b83d";

/**
 * A known flaw in its log: a raw read leaves a topology version that the driver cannot compare, so the next command on
 * a deposed primary fails with a TypeError instead of 503.
 */
export const knownFlaw = /compareTopologyVersion/;

/** The message if this clone lacks the commit. */
export const withoutRelease = [
  `This clone lacks commit ${releasedCommit.slice(0, 12)}: test/drills/upgrade.test.ts is LEFT OUT.`,
  "Fetch the whole history (git fetch --unshallow).",
].join(" ");
