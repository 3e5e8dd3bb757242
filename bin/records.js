#!/usr/bin/env node
// Starts the command line.
import { run } from "./bundle.js";

await run("src/cli/records.ts");
