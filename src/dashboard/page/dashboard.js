// Starts the scripts of the page, and removes the secret from the page when the user leaves it.
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

// A page from the browser's cache may be stale, for example after a sign-out.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
