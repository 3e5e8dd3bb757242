// Preloaded into an instance: collects garbage on SIGUSR2, so that its memory is what it retains.
"use strict";
const { isMainThread } = require("node:worker_threads");

if (isMainThread) {
  require("node:v8").setFlagsFromString("--expose-gc");
  const collect = require("node:vm").runInNewContext("gc");
  process.on("SIGUSR2", () => collect());
}
