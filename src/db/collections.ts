// The names of all collections.

/** Collection names. Only the store of its domain writes to a collection; others may read it. */
export const collections = {
  accounts: "accounts",
  apiKeys: "api_keys",
  auditLog: "audit_log",
  claims: "idempotency",
  contacts: "contacts",
  dashboardSessions: "dashboard_sessions",
  endedSessions: "ended_sessions",
  erasures: "erasures",
  imports: "imports",
  logoutTokens: "logout_tokens",
  notes: "notes",
  requestCounts: "request_counts",
  restores: "restores",
  sessions: "sessions",
  switchChanges: "switch_changes",
  switches: "switches",
  transcripts: "transcripts",
} as const;
