// Ctrl-C and SIGTERM: the first one ends what runs in good order, a later one ends it at once.

/** npm passes on the Ctrl-C that the terminal has sent to its whole group: so one press arrives twice. */
const onePressMs = 500;

/** Calls `onFirst` on the first SIGINT or SIGTERM, and `onSecond` on the next press. Returns how to take it back. */
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
