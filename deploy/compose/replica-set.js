// Run by mongosh: makes a replica set of the three members where there is none, and waits for its primary.
const members = ["mongo1:27017", "mongo2:27017", "mongo3:27017"].map((host, _id) => ({ _id, host }));
try {
  rs.status();
} catch (error) {
  if (error.codeName !== "NotYetInitialized") throw error;
  rs.initiate({ _id: "rs0", members });
}
const end = Date.now() + 60_000;
while (!rs.status().members.some(({ stateStr }) => stateStr === "PRIMARY")) {
  if (Date.now() > end) throw new Error("the replica set has no primary after 60 seconds");
  sleep(500);
}
