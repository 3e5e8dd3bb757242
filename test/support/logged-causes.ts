// What the services logged during a test that failed is printed and is in the report: a 503 says nothing of its cause.
import { afterEach, beforeEach } from "vitest";
import { takeWarnings } from "../fixtures/service/service.ts";

declare module "vitest" {
  interface TaskMeta {
    /** The warnings and errors of the services during the test. */
    logged?: readonly string[];
  }
}

/** Of a test that logs much, the last lines. */
const mostLines = 20;

beforeEach(() => void takeWarnings());

afterEach(({ task }) => {
  const logged = takeWarnings().slice(-mostLines);
  if (task.result?.state !== "fail" || logged.length === 0) return;
  task.meta.logged = logged;
  console.error(`logged during "${task.name}":\n${logged.join("")}`);
});
