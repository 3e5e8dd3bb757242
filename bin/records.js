#!/usr/bin/env node
// Starts the command line, which is TypeScript, from a checkout as it is.
import { register } from "tsx/esm/api";

register();
await import("../src/cli/records.ts");
