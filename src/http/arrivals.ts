// Drains input at a port that is about to close: accepted connections, and bytes on open ones.

/** The maximum duration of a quick poll, in milliseconds. At most `maxPolls` polls wait for a quick one. */
const quickMs = 0.5;
const maxPolls = 20;

/**
 * Waits until Node has accepted all connections in the kernel's queue: closing the port would reset them. Node accepts
 * one in each turn of its event loop. Connections that arrive after the last poll are lost, so the last poll should be
 * quick. Returns at `until` at the latest, in milliseconds of `performance.now()`.
 */
export async function acceptPending(accepted: () => number, until: number): Promise<void> {
  for (let polls = 0; performance.now() < until; polls++) {
    const [before, began] = [accepted(), performance.now()];
    await waitForPollPhase();
    if (accepted() === before && (performance.now() - began < quickMs || polls >= maxPolls)) return;
  }
}

/**
 * Waits for one complete poll phase of the event loop. The first check phase only ends a poll that may have begun
 * before.
 */
export async function waitForPollPhase(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((soon) => setImmediate(soon));
}
