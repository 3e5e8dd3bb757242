// Preloaded into an instance: on SIGUSR2 its garbage is collected, so that what it holds is what it keeps.
"use strict";
const { isMainThread } = require("node:worker_threads");

if (isMainThread) {
  require("node:v8").setFlagsFromString("--expose-gc");
  const collect = require("node:vm").runInNewContext("gc");
  process.on("SIGUSR2", () => collect());
}
