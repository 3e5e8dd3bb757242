// Bundles the programs in advance, for installations that cannot write bundles later.
import { bundled } from "./bundle.js";

await Promise.all(["src/main.ts", "src/cli/records.ts"].map((source) => bundled(source)));
