#!/usr/bin/env node
// Starts the command line.
import { bundled } from "./bundle.js";

process.setSourceMapsEnabled(true);
await import(await bundled("records"));
