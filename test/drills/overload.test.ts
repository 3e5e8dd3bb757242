// The drill of too many requests, in its short form.
import { overload } from "./overload/overload.ts";
import { holds } from "./hold.ts";

// A few seconds of load do not bring a fast machine to a collapse.
holds(overload, ["RTE-04", "HLT-04", "OPS-15"], "never");
