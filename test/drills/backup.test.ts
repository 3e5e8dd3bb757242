// The backup drill in its short form.
import { backup } from "./backup/backup.ts";
import { holds } from "./hold.ts";

holds(backup, ["OPS-62"]);
