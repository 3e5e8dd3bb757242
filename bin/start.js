#!/usr/bin/env node
// Starts the service.
import { run } from "./bundle.js";

await run("src/main.ts");
