// A total that callers share: what each may take, and what is given back.
import { expect, test } from "vitest";
import { createSharedTotal } from "../../src/call/shared-total.ts";

test("gives each caller a share and all together the total, and takes amounts back [OPS-70]", () => {
  const { take, taken } = createSharedTotal({ total: 5, ofEach: 3 });
  const first = take("192.0.2.1", 3);
  expect(first).toBeDefined();
  expect(take("192.0.2.1", 1)).toBeUndefined();
  expect(take("192.0.2.2", 3)).toBeUndefined();
  const second = take("192.0.2.2", 2);
  expect(second).toBeDefined();
  expect(take("192.0.2.3", 1)).toBeUndefined();
  first?.();
  first?.();
  expect(taken()).toBe(2);
  expect(take("192.0.2.3", 1)).toBeDefined();
  expect(take("192.0.2.1", 2)).toBeDefined();
  second?.();
  expect(take("192.0.2.2", 2)).toBeDefined();
});

test("a caller that has given back a part may take that part again, and no more [OPS-70]", () => {
  const { take } = createSharedTotal({ total: 100, ofEach: 3 });
  const parts = [take("a", 1), take("a", 2)];
  parts[0]?.();
  expect(take("a", 2)).toBeUndefined();
  expect(take("a", 1)).toBeDefined();
  parts[1]?.();
  expect(take("a", 3)).toBeUndefined();
  expect(take("a", 2)).toBeDefined();
});
