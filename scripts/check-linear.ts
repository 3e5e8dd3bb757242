// The step of `npm run check` that proves regular expressions linear, as a process of its own.
import { isLinear } from "./linear.ts";

if (!isLinear(process.cwd())) process.exitCode = 1;
