// The drill of planned maintenance, in its short form.
import { maintenance } from "./maintenance/maintenance.ts";
import { holds } from "./hold.ts";

holds(maintenance, ["OPS-42"], "in the long form");
