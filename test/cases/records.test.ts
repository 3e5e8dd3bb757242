// Runs the cases of SessionService, NoteService and HealthService on every wire.
import { runCases } from "../support/run-cases.ts";
import { beyondRestCases } from "./beyond-rest.cases.ts";
import { healthCases, noteCases } from "./records.cases.ts";
import { sessionCases } from "./sessions.cases.ts";

runCases([...healthCases, ...sessionCases, ...beyondRestCases, ...noteCases]);
