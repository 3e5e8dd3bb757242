// The drill of too many requests, in its short form.
import { overload } from "../../drills/overload/overload.ts";
import { holds } from "./hold.ts";

holds(overload, ["RTE-04", "HLT-04", "OPS-15"], "a few seconds of load bring a fast machine to no collapse");
