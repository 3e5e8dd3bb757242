// The step of `npm run check` that proves regular expressions linear, in its own process.
import { isLinear } from "./linear.ts";

if (!isLinear(process.cwd())) process.exitCode = 1;
