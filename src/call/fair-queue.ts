// Fair queue of the event loop: long work waits in it, and other tasks run in between.

/** Schedules `work` after the work that already waits. */
export type Schedule = (work: () => void) => void;

/**
 * Creates a queue. Each turn of the event loop runs one item, and further ones until `turnMs` milliseconds have passed.
 */
export function createFairQueue(turnMs: number): Schedule {
  const waiting: (() => void)[] = [];
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(runNext);
  }

  function runNext(): void {
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
 * Returns a function that runs the work of one connection in order, in turn with other connections. While `notYet`
 * returns true, the work is postponed to the next turn. Work that returns false has done nothing, and takes no turn.
 */
export function createSerialQueue(schedule: Schedule, notYet = (): boolean => false): (work: () => boolean) => void {
  const next: (() => boolean)[] = [];
  const go = (): void => {
    let isFree = !notYet();
    while (isFree && next.length > 0) isFree = next.shift()?.() === false;
    if (next.length > 0) schedule(go);
  };
  return (work) => {
    if (next.push(work) === 1) schedule(go);
  };
}
