// Test files that may skip tests at run time because the machine lacks something. Each prints a notice itself.
export const mayLeaveOut: readonly (readonly [file: string, why: string])[] = [
  [
    "test/mcp/clients/clients.test.ts",
    "a client of another maker may have to be fetched, and a machine may be offline",
  ],
  ["test/providers/keycloak.test.ts", "Keycloak is fetched, and a machine may be offline"],
  ["test/providers/hydra.test.ts", "Hydra is built from fetched modules, and a machine may be offline"],
  ["test/mcp/conformance/conformance.test.ts", "the runner of the official suite is fetched, and not installed"],
];
