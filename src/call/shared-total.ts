// A total that callers share, each up to a maximum.

/** A total, of which each caller may take a share. */
export interface SharedTotal {
  /**
   * Takes an amount for a caller. Returns a function that gives it back, however often it is called. Returns undefined
   * if the total or the caller would exceed its maximum.
   */
  take(caller: string, amount: number): (() => void) | undefined;
  /** Returns what all callers have taken, or one of them. */
  taken(caller?: string): number;
}

/** The maximum of all callers together, and of each. */
export interface Maxima {
  readonly total: number;
  readonly ofEach: number;
}

/** Creates a total of which nothing is taken. */
export function createSharedTotal({ total, ofEach }: Maxima): SharedTotal {
  const taken = new Map<string, number>();
  let sum = 0;
  return {
    taken: (caller) => (caller === undefined ? sum : (taken.get(caller) ?? 0)),
    take(caller, amount) {
      const before = taken.get(caller) ?? 0;
      if (sum + amount > total || before + amount > ofEach) return undefined;
      sum += amount;
      taken.set(caller, before + amount);
      let held = amount;
      return () => {
        sum -= held;
        const left = (taken.get(caller) ?? 0) - held;
        held = 0;
        if (left > 0) taken.set(caller, left);
        else taken.delete(caller);
      };
    },
  };
}
