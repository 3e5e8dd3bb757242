// Bundles the programs, for where nothing can be written later.
import { bundled } from "./bundle.js";

await Promise.all(["src/main.ts", "src/cli/records.ts"].map((source) => bundled(source)));
