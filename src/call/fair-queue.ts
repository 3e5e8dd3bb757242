// Fair queue of the event loop: long work waits in it, and other tasks run in between.

/** Schedules work of a client after its work that already waits. Clients take turns. */
export type Schedule = (work: () => void, client?: string) => void;

/** The maximum number of turns in a row that run nothing, so that Node can accept connections. */
const maxRests = 8;

/**
 * Creates a queue. Each turn of the event loop runs one item, and further ones until `turnMs` milliseconds have passed.
 * Node accepts only one connection in each turn. So while `accepted`, the number of connections so far, grows, up to
 * `maxRests` turns in a row run nothing: otherwise, each connection would wait for a turn of everyone else's input.
 */
export function createFairQueue(turnMs: number, accepted = (): number => 0): Schedule {
  /** The waiting work of each client, in the order of the clients' turns. */
  const lanes = new Map<string, (() => void)[]>();
  let scheduled = false;
  let [acceptedBefore, rests] = [0, 0];

  function schedule(): void {
    if (scheduled || lanes.size === 0) return;
    scheduled = true;
    setImmediate(runNext);
  }

  function takeNext(): (() => void) | undefined {
    for (const [client, waiting] of lanes) {
      lanes.delete(client);
      const work = waiting.shift();
      if (waiting.length > 0) lanes.set(client, waiting);
      return work;
    }
    return undefined;
  }

  function runNext(): void {
    rests = accepted() > acceptedBefore && rests < maxRests ? rests + 1 : 0;
    acceptedBefore = accepted();
    if (rests > 0) return void setImmediate(runNext);
    const until = performance.now() + turnMs;
    do takeNext()?.();
    while (lanes.size > 0 && performance.now() < until);
    scheduled = false;
    schedule();
  }

  return (work, client = "") => {
    const waiting = lanes.get(client);
    if (waiting === undefined) lanes.set(client, [work]);
    else waiting.push(work);
    schedule();
  };
}

/**
 * Returns a function that runs the work of one connection in order, in turn with other connections. While `notYet`
 * returns true, the work is postponed to the next turn. Work that returns false has done nothing, and takes no turn.
 */
export function createSerialQueue(
  schedule: (work: () => void) => void,
  notYet = (): boolean => false,
): (work: () => boolean) => void {
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
