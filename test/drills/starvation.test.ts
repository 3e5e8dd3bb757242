// The short form of the starvation drill.
import { starvation } from "./starvation/starvation.ts";
import { holds } from "./hold.ts";

// A build without limits only starves others reliably on an idle machine, so there is no control.
holds(starvation, ["RTE-09", "RTE-11", "HLT-04"], "never");
