// The drill of one client that does its worst, in its short form.
import { starvation } from "../../drills/starvation/starvation.ts";
import { holds } from "./hold.ts";

holds(starvation, ["RTE-01", "HLT-04"]);
