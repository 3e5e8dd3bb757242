// The histories drill: what clients of three instances observe while members and instances are cut off from each other.
import type { Drill } from "../drill.ts";
import { controls } from "./controls.ts";
import { plans } from "./plans.ts";
import { runHistories } from "./rounds.ts";

export const histories: Drill = {
  name: "histories",
  promise: "However the network is cut, all clients see one history of each record, and nothing acknowledged is lost",
  run: (form, say) => runHistories(plans[form], say),
  controls,
};
