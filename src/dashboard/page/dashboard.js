// Begins what the page does by script, and sees to it that no secret outlives its visit.
import { startAuditLog } from "./dashboard/audit-log.js";
import { startCopying } from "./dashboard/copying.js";
import { startKeyPanel } from "./dashboard/key-panel.js";
import { startClock } from "./dashboard/instant.js";
import { startSignOut } from "./dashboard/sign-out.js";

startCopying();
startSignOut();

const keyRoot = document.getElementById("key-panel");
const logRoot = document.getElementById("audit-log");
if (keyRoot !== null && logRoot !== null) {
  const log = startAuditLog(logRoot);
  const panel = startKeyPanel(keyRoot, () => log.reload());
  startClock();
  addEventListener("pagehide", () => panel.forgetSecret());
}

// A page that the browser kept may show what is not so any more, such as someone who has signed out.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
