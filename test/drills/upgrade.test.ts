// The short form of the upgrade drill: runs this code beside the previous release.
import { upgrade } from "./upgrade/upgrade.ts";
import { holds } from "./hold.ts";

holds(upgrade, ["OPS-17", "IDM-15", "CON-07"], "in the long form");
