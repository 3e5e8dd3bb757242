// The short form of the kills drill. `npm run drill -- kills` runs the long one.
import { kills } from "./kills/kills.ts";
import { holds } from "./hold.ts";

holds(kills, ["IDM-15", "IDM-17", "IDM-18", "OPS-17"], "in the long form");
