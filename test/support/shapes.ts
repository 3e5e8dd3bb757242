// The records of the specification, field by field, as literals: what a body must hold, and how protobuf's JSON becomes
// it.

/** What a field holds; `?` may be null. A list holds a shape, and a shape in `object` may be null. */
export type Kind =
  | "uuid"
  | "string"
  | "string?"
  | "time"
  | "time?"
  | "integer"
  | "integer?"
  | "number?"
  | "boolean"
  | readonly [Shape]
  | { readonly object: Shape }
  | { readonly one: Readonly<Record<string, string>> };

/** The fields of an object, exactly. */
export interface Shape {
  readonly [field: string]: Kind;
}

export const timelineNote: Shape = {
  id: "uuid",
  content: "string",
  source: "string",
  created_at: "time",
  updated_at: "time",
};

export const recentSession: Shape = {
  id: "uuid",
  title: "string?",
  subtitle: "string?",
  session_date: "time?",
  recording_status: "string?",
};

export const contact: Shape = {
  id: "uuid",
  full_name: "string?",
  email: "string?",
  phone: "string?",
  notes: "string?",
  memory: "string?",
  created_at: "time",
  updated_at: "time",
  notes_timeline: [timelineNote],
  recent_sessions: [recentSession],
  inferred_name: "string?",
  archived_at: "time?",
};

export const sessionSummary: Shape = {
  id: "uuid",
  title: "string?",
  subtitle: "string?",
  session_date: "time?",
  session_date_end: "time?",
  recording_status: "string?",
  source: "string?",
  conference_provider: "string?",
  client: { object: { id: "uuid", full_name: "string?" } },
};

export const sessionNote: Shape = {
  title: "string?",
  title_slug: "string?",
  content: "string?",
  position: "integer",
  type: {
    one: {
      SESSION_NOTE_TYPE_USER_MANUAL: "user_manual",
      SESSION_NOTE_TYPE_AI_MEETING_PREP: "ai_meeting_prep",
      SESSION_NOTE_TYPE_USER_TEMPLATE: "user_template",
      SESSION_NOTE_TYPE_AI_PREDEFINED: "ai_predefined",
      SESSION_NOTE_TYPE_AI_ASSISTANT: "ai_assistant",
      SESSION_NOTE_TYPE_READER_COMMENT: "reader_comment",
    },
  },
};

export const sessionDetail: Shape = {
  ...sessionSummary,
  client: { object: { id: "uuid", full_name: "string?", email: "string?" } },
  conference_url: "string?",
  google_doc_url: "string?",
  created_at: "time",
  updated_at: "time",
  notes: [sessionNote],
};

export const transcript: Shape = {
  session_id: "uuid",
  transcript: "string?",
  recording: {
    object: { id: "uuid", duration_seconds: "number?", recording_started_at: "time?", recording_ended_at: "time?" },
  },
};

export const foundNote: Shape = {
  kind: { one: { NOTE_KIND_CONTACT: "contact", NOTE_KIND_SESSION: "session" } },
  parent_id: "uuid",
  parent_label: "string?",
  note_type: "string?",
  content: "string",
  truncated: "boolean",
  created_at: "time?",
};

export const pagination: Shape = { limit: "integer", offset: "integer", has_more: "boolean", next_offset: "integer?" };

export const health: Shape = {
  status: { one: { HEALTH_STATUS_OK: "ok", HEALTH_STATUS_DEGRADED: "degraded", HEALTH_STATUS_DISABLED: "disabled" } },
  version: "string",
};

const forms: Readonly<Record<string, (value: unknown) => boolean>> = {
  uuid: (value) => typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  string: (value) => typeof value === "string",
  time: (value) => typeof value === "string" && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value),
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
};

/**
 * Where a value is not exactly of the shape: every missing, further or ill-typed field by its path; empty where all is
 * right.
 */
export function mismatches(shape: Shape, value: unknown, path = "$"): string[] {
  if (!isObject(value)) return [`${path} is no object`];
  const wrong = Object.keys(value)
    .filter((name) => !(name in shape))
    .map((name) => `${path}.${name} is too many`);
  for (const [name, kind] of Object.entries(shape)) {
    const at = `${path}.${name}`;
    const field = value[name];
    if (!(name in value)) wrong.push(`${at} is missing`);
    else if (typeof kind === "string") {
      if (!(kind.endsWith("?") && field === null) && forms[kind.replace("?", "")]?.(field) !== true)
        wrong.push(`${at} is no ${kind}: ${JSON.stringify(field)}`);
    } else if (isList(kind)) {
      if (!Array.isArray(field)) wrong.push(`${at} is no list`);
      else wrong.push(...field.flatMap((item, index) => mismatches(kind[0], item, `${at}[${index}]`)));
    } else if ("one" in kind) {
      if (typeof field !== "string" || !Object.values(kind.one).includes(field))
        wrong.push(`${at} is no known name: ${JSON.stringify(field)}`);
    } else if (field !== null) {
      wrong.push(...mismatches(kind.object, field, at));
    }
  }
  return wrong;
}

/**
 * Protobuf's JSON of a record in the form of REST. Fields that the shape has not are kept, so that they are noticed.
 */
export function restForm(shape: Shape, json: unknown): Record<string, unknown> {
  const given = new Map(Object.entries(isObject(json) ? json : {}));
  const record: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(shape)) {
    const jsonName =
      name === "google_doc_url"
        ? "providerDocUrl"
        : name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    record[name] = restValue(kind, given.get(jsonName));
    given.delete(jsonName);
  }
  return { ...record, ...Object.fromEntries(given) };
}

function restValue(kind: Kind, value: unknown): unknown {
  if (typeof kind !== "string") {
    if (isList(kind)) return (Array.isArray(value) ? value : []).map((item) => restForm(kind[0], item));
    if ("one" in kind) return kind.one[String(value)] ?? value;
    return value === undefined ? null : restForm(kind.object, value);
  }
  if (value === undefined) return kind === "integer" ? 0 : kind === "boolean" ? false : kind === "string" ? "" : null;
  return kind.startsWith("time") ? new Date(String(value)).toISOString() : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(kind: Exclude<Kind, string>): kind is readonly [Shape] {
  return Array.isArray(kind);
}
