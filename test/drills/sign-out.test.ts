// The short form of the sign-out drill.
import { signOut } from "./sign-out/sign-out.ts";
import { holds } from "./hold.ts";

holds(signOut, ["OAU-15", "OAU-16", "DSH-08", "OPS-17"]);
