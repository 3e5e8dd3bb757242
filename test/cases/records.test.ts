// Runs the cases of SessionService, NoteService and HealthService on every wire.
import { runCases } from "../support/run-cases.ts";
import { healthCases, noteCases, sessionCases } from "./records.cases.ts";

runCases([...healthCases, ...sessionCases, ...noteCases]);
