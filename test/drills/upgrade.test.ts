// The drill of the upgrade in its short form: this code and the release before in parallel.
import { upgrade } from "./upgrade/upgrade.ts";
import { holds } from "./hold.ts";

holds(upgrade, ["OPS-17", "IDM-15", "CON-07"], "in the long form");
