// The rooms of what starts or builds a program and is JavaScript, or a setting of the test runner.
import type { Room } from "./service-rooms.ts";

export const programRooms: readonly Room[] = [
  // Both programs, and the bundler that makes them, load the bundle by its place.
  ["bin/bundle.js", ["a computed path"]],
  ["bin/", ["bin/"]],
  // Each runs where no file of ours is beside it.
  ["client/prepare.js", []],
  ["deploy/", []],
  ["vitest.config.ts", ["test/support/"]],
];
