// Handlers of Ctrl-C and SIGTERM: the first signal stops the program in good order, and a later one at once.

/**
 * The time in milliseconds within which signals count as one press of Ctrl-C. The terminal sends it to the whole
 * process group, and npm forwards it too.
 */
const onePressMs = 500;

/**
 * Calls `onFirst` on the first SIGINT or SIGTERM, and `onSecond` on a later press. Returns a function that removes the
 * handlers.
 */
export function onSignals(onFirst: (signal: NodeJS.Signals) => void, onSecond: () => void): () => void {
  let firstAt: number | undefined;
  const receive = (signal: NodeJS.Signals): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      onFirst(signal);
    } else if (performance.now() - firstAt > onePressMs) onSecond();
  };
  process.on("SIGINT", receive).on("SIGTERM", receive);
  return () => void process.off("SIGINT", receive).off("SIGTERM", receive);
}
