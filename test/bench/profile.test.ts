// Tests how a CPU profile is read: how time is attributed, and from when it counts.
import { expect, test } from "vitest";
import { profileOf, profileText } from "./profile.ts";

const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 9 });
const profile = {
  startTime: 0,
  nodes: [
    { id: 1, callFrame: frame("(root)", ""), children: [2, 4, 6, 7, 8] },
    { id: 2, callFrame: frame("send", "file:///x/node_modules/mongodb/lib/connection.js"), children: [3] },
    { id: 3, callFrame: frame("write", "node:net"), children: [9] },
    { id: 4, callFrame: frame("take", "file:///x/src/guards/bucket.ts"), children: [5] },
    { id: 5, callFrame: frame("push", ""), children: [] },
    { id: 6, callFrame: frame("(garbage collector)", "") },
    { id: 7, callFrame: frame("onread", "node:net") },
    { id: 8, callFrame: frame("(idle)", "") },
    { id: 9, callFrame: frame("writeBuffer", "") },
  ],
  samples: [2, 3, 9, 4, 5, 6, 7, 8, 8],
  timeDeltas: [0, 10, 10, 10, 10, 10, 10, 10, 10],
};

test("attributes the time of Node's own functions to the package or folder that calls them, and omits idle time", () => {
  const { busyMs, places } = profileOf(profile, 0);
  expect(busyMs).toBe(0.07);
  expect(places.map(([name, share]) => [name, Math.round(share * 70)])).toEqual([
    ["mongodb", 30],
    ["src/guards", 20],
    ["(garbage collector)", 10],
    ["node", 10],
  ]);
});

test("ignores what ran before the given time", () => {
  expect(profileOf(profile, 0.045).places.map(([name]) => name)).toEqual(["(garbage collector)", "node"]);
});

test("the text shows the share of each place, and its time per request if requests were served", () => {
  const served = profileText("get", profileOf(profile, 0), 2);
  expect(served).toContain("get: 0 ms of CPU time, 35 µs for each of 2 requests\n");
  expect(served).toContain("   42.9 %   15.0 µs  mongodb\n");
  expect(profileText("start", profileOf(profile, 0), undefined)).toContain("   42.9 %  mongodb\n");
});
