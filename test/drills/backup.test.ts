// The short form of the backup drill.
import { backup } from "./backup/backup.ts";
import { holds } from "./hold.ts";

holds(backup, ["OPS-62"]);
