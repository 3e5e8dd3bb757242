// Loaded before the service to count calls: on SIGUSR2, Node writes how often each function was called since the last
// time to the folder in NODE_V8_COVERAGE.
import { takeCoverage } from "node:v8";

process.on("SIGUSR2", takeCoverage);
