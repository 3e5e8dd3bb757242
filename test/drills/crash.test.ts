// The short form of the crash drill. `npm run drill -- crash` runs the long one.
import { crash } from "./crash/crash.ts";
import { holds } from "./hold.ts";

holds(crash, ["IDM-15"]);
