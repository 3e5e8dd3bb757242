// The short form of the dependencies drill.
import { dependencies } from "./dependencies/dependencies.ts";
import { holds } from "./hold.ts";

holds(dependencies, ["OPS-15", "RTE-13", "OAU-14", "IDM-18"], "in the long form");
