// Detects input at a port that is about to close: accepted connections, and bytes on open ones.

/** A look at what has arrived is quick within this time; so many are taken in the hope of one. */
const quickMs = 0.5;
const mostLooks = 20;

/**
 * Waits until the kernel has no connection left that it took for us: it would reset them with the port. Node accepts
 * one in each turn of its loop. What arrives after the last look is lost, so the last one has to be quick, if any is.
 */
export async function takeAll(accepted: () => number, until: number): Promise<void> {
  for (let looks = 0; performance.now() < until; looks++) {
    const [before, began] = [accepted(), performance.now()];
    await lookAround();
    if (accepted() === before && (performance.now() - began < quickMs || looks >= mostLooks)) return;
  }
}

/** Lets Node look once at everything that has arrived: from one check phase to the next but one lies a whole look. */
export async function lookAround(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((soon) => setImmediate(soon));
}
