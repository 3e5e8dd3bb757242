// Loaded into an instance beside the service: on SIGUSR2 its garbage is collected, so that what it holds is what it
// keeps.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
process.on("SIGUSR2", () => collect());
