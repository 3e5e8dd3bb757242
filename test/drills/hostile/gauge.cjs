// Preloaded into an instance: reports the longest delay of its event loop over a socket.
"use strict";
const { isMainThread } = require("node:worker_threads");
const path = process.env["DRILL_GAUGE"];

if (isMainThread && path !== undefined && path !== "") {
  const { monitorEventLoopDelay } = require("node:perf_hooks");
  const delay = monitorEventLoopDelay({ resolution: 2 });
  delay.enable();
  const server = require("node:net").createServer((socket) => {
    socket.on("error", () => socket.destroy());
    // Replies to each byte with the longest delay since the previous one.
    socket.on("data", () => {
      socket.write(`${delay.max / 1e6}\n`);
      delay.reset();
    });
    socket.unref();
  });
  server.listen(path);
  server.unref();
}
