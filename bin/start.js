#!/usr/bin/env node
// Starts the service.
import { bundled } from "./bundle.js";

process.setSourceMapsEnabled(true);
await import(await bundled("service"));
