// The short form of the soak drill.
import { soak } from "./soak/soak.ts";
import { holds } from "./hold.ts";

holds(soak, ["OPS-17"]);
