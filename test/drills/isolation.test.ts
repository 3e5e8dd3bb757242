// The short form of the isolation drill.
import { isolation } from "./isolation/isolation.ts";
import { holds } from "./hold.ts";

holds(isolation, ["ISO-01", "ISO-02", "ISO-03", "ISO-04", "ISO-05", "ISO-06", "ISO-07", "ISO-08"], "in the long form");
