// The short form of the erasure drill.
import { erasure } from "./erasure/erasure.ts";
import { holds } from "./hold.ts";

holds(erasure, ["OPS-30", "OPS-31", "OPS-32"]);
