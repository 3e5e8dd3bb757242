// The soak, in seconds.
import { soak } from "../../drills/soak/soak.ts";
import { holds } from "./hold.ts";

holds(soak, ["OPS-17"]);
