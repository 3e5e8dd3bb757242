// Client of the service for the signed-in user: the API key and the audit log.
import { byId } from "./elements.js";

/** @typedef {"read_write" | "read_only"} Access */
/** @typedef {{ id: string, prefix: string, access: Access, created_at: string, last_used_at: string | null }} ApiKey */
/** @typedef {{ id: string, key: string, prefix: string, access: Access, created_at: string }} IssuedKey */
/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {string} created_at
 * @property {string} event
 * @property {string | null} detail
 * @property {string | null} key_prefix
 * @property {string | null} person
 * @property {string} request_id
 * @property {string} address
 */
/** @typedef {{ data: Entry[], pagination: { has_more: boolean, next_offset: number | null } }} EntryPage */

const shownUser = /** @type {HTMLInputElement} */ (byId("user"));
const responseLimitMs = 20_000;
const maxWaitSeconds = 30;
const pageSize = 25;

/** Why a request failed, in words for the user. */
export class Failure extends Error {
  /**
   * @param {number} status 0 without a complete response
   * @param {string} message
   * @param {string | undefined} requestId
   */
  constructor(status, message, requestId) {
    super(message);
    this.status = status;
    this.requestId = requestId;
  }

  /** Whether the service may have made the change anyway. */
  get uncertain() {
    return this.status === 0 || this.status >= 500;
  }
}

/**
 * Returns a thrown value as a failure. Anything else is an error of the page, and reported as such.
 * @param {unknown} thrown
 */
export function failureOf(thrown) {
  return thrown instanceof Failure ? thrown : new Failure(0, `The page has an error: ${String(thrown)}`, undefined);
}

/** @returns {Promise<ApiKey | undefined>} */
export async function getKey() {
  try {
    const { data } = /** @type {{ data: ApiKey }} */ (await request("GET", "/v1/api-key"));
    return data;
  } catch (thrown) {
    if (failureOf(thrown).status === 404) return undefined;
    throw thrown;
  }
}

/** @param {Access} access */
export async function createKey(access) {
  const { data } = /** @type {{ data: IssuedKey }} */ (await request("POST", "/v1/api-key", { access }));
  return data;
}

/**
 * @param {string} id the key to replace, because there may be another by now
 * @param {Access} access
 */
export async function rotateKey(id, access) {
  const { data } = /** @type {{ data: IssuedKey }} */ (await request("POST", "/v1/api-key/rotate", { id, access }));
  return data;
}

/** @param {string} id the key to revoke, because there may be another by now */
export async function revokeKey(id) {
  await request("DELETE", `/v1/api-key?id=${id}`);
}

/** The request with which a new key is tried. */
export const tryPath = "/v1/contacts?query=ann";

/**
 * Sends a read with the key instead of the session. The key goes to the origin of the page, in a header.
 * @param {string} key
 */
export async function tryKey(key) {
  const response = await fetchFromService(tryPath, {
    credentials: "omit",
    redirect: "error",
    headers: { Accept: "application/json", Authorization: `Bearer ${key}` },
  });
  const content = await bodyOf(response);
  const requestId = response.headers.get("X-Request-Id") ?? undefined;
  if (!response.ok) throw new Failure(response.status, messageOf(response, content), requestId);
}

/** @param {number} offset */
export async function listEntries(offset) {
  return /** @type {EntryPage} */ (await request("GET", `/v1/audit-log?limit=${pageSize}&offset=${offset}`));
}

/**
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<unknown>}
 */
async function request(method, path, body) {
  let response = await send(method, path, body);
  const wait = waitOf(response);
  if (method === "GET" && wait !== undefined && wait <= maxWaitSeconds) {
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    response = await send(method, path, body);
  }
  if (response.status === 401) await leave();
  const requestId = response.headers.get("X-Request-Id") ?? undefined;
  const content = await bodyOf(response);
  if (!response.ok) throw new Failure(response.status, messageOf(response, content), requestId);
  if (content === undefined) throw new Failure(0, "The response of the service was incomplete.", requestId);
  return content;
}

/** @param {string} method @param {string} path @param {unknown} body */
async function send(method, path, body) {
  /** @type {RequestInit} */
  const init = {
    method,
    credentials: "same-origin",
    // Another user may have signed in in another tab. Changes are made only for the user on this page.
    headers: { Accept: "application/json", "Records-User": shownUser.value },
  };
  if (body !== undefined) {
    init.headers = { ...init.headers, "Content-Type": "application/json" };
    init.body = JSON.stringify(body);
  }
  return fetchFromService(path, init);
}

/** @param {string} path @param {RequestInit} init */
async function fetchFromService(path, init) {
  try {
    return await fetch(path, { ...init, cache: "no-store", signal: AbortSignal.timeout(responseLimitMs) });
  } catch {
    throw new Failure(0, "The service did not respond. Check your connection, then try again.", undefined);
  }
}

/** @param {Response} response @returns {number | undefined} seconds */
function waitOf(response) {
  if (response.status !== 429) return undefined;
  const seconds = Number(response.headers.get("Retry-After") ?? "1");
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : 1;
}

/** @param {Response} response @returns {Promise<unknown>} */
async function bodyOf(response) {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

/** @param {Response} response @param {unknown} body */
function messageOf(response, body) {
  const reported = /** @type {{ error?: { message?: unknown } } | undefined} */ (body)?.error?.message;
  // The message of a 429 states the wait.
  return typeof reported === "string" ? reported : `The service returned the status ${response.status}.`;
}

/**
 * The session has ended, or another user is signed in, so the page is loaded again. Does not return, unless that was
 * tried just now.
 */
async function leave() {
  const [navigation] = performance.getEntriesByType("navigation");
  const reloaded = navigation instanceof PerformanceNavigationTiming && navigation.type === "reload";
  if (reloaded && performance.now() < 5000)
    throw new Failure(401, "You are no longer signed in. Sign out, then sign in again.", undefined);
  location.reload();
  await new Promise(() => {});
}
