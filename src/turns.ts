// Fair scheduling on the event loop: long work waits in one queue, and other tasks run in between.

/** Calls `work` soon, after the others that wait. */
export type Wait = (work: () => void) => void;

/** A queue. In each turn of the event loop it does one work, and more until `turnMs` milliseconds have passed. */
export function createTurns(turnMs: number): Wait {
  const waiting: (() => void)[] = [];
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(takeTurns);
  }

  function takeTurns(): void {
    const until = performance.now() + turnMs;
    do waiting.shift()?.();
    while (waiting.length > 0 && performance.now() < until);
    scheduled = false;
    schedule();
  }

  return (work) => {
    waiting.push(work);
    schedule();
  };
}

/**
 * Does the work of one connection in its order, each in turn with other connections. While `notYet` returns true, it is
 * put off to the next turn.
 */
export function inTurn(wait: Wait, notYet = (): boolean => false): (work: () => void) => void {
  const next: (() => void)[] = [];
  const go = (): void => {
    if (!notYet()) next.shift()?.();
    if (next.length > 0) wait(go);
  };
  return (work) => {
    if (next.push(work) === 1) wait(go);
  };
}
