// The short form of the limiter drill.
import { limiter } from "./limiter/limiter.ts";
import { holds } from "./hold.ts";

holds(limiter, ["RTE-01", "RTE-02", "RTE-03", "OPS-17"], "in the long form");
