// The backup drill in its short form.
import { backup } from "../../drills/backup/backup.ts";
import { holds } from "./hold.ts";

holds(backup, ["OPS-62"]);
