// Prints and reports what services logged during a failed test, because a 503 does not reveal its cause.
import { afterEach, beforeEach } from "vitest";
import { takeWarnings } from "../fixtures/service/service.ts";

declare module "vitest" {
  interface TaskMeta {
    /** The warnings and errors of the services during the test. */
    logged?: readonly string[];
  }
}

/** The maximum number of lines to print, the last ones. */
const mostLines = 20;

beforeEach(() => void takeWarnings());

afterEach(({ task }) => {
  const logged = takeWarnings().slice(-mostLines);
  if (task.result?.state !== "fail" || logged.length === 0) return;
  task.meta.logged = logged;
  console.error(`logged during "${task.name}":\n${logged.join("")}`);
});
