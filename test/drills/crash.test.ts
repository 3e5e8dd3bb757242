// The drill of crashes in its short form: `npm run drill -- crash` is the long one.
import { crash } from "./crash/crash.ts";
import { holds } from "./hold.ts";

holds(crash, ["IDM-15"]);
