"""Notes a call with a contact, exactly once, with nothing but Python's standard library."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

MOST_ATTEMPTS = 5
RETRIED = {429, 502, 503, 504}
NO_DEMO = "There is no demo here (data/demo.json): run `npm start` first, or set RECORDS_URL and RECORDS_API_KEY."


def demo() -> dict:
    """Returns what `npm start` wrote about the demo."""
    folder = os.environ.get("DATA_DIR") or pathlib.Path(__file__).parents[2] / "data"
    try:
        return json.loads((pathlib.Path(folder) / "demo.json").read_text())
    except (OSError, ValueError):
        raise SystemExit(NO_DEMO)


URL = (os.environ.get("RECORDS_URL") or demo()["base_url"]).rstrip("/")
API_KEY = os.environ.get("RECORDS_API_KEY") or demo()["accounts"][0]["api_key"]
if not API_KEY:
    raise SystemExit(NO_DEMO)


def call(method: str, path: str, body: dict | None = None, idempotency_key: str | None = None) -> dict:
    """One request, again where that can help. Only for reads, and for writes that have an idempotency key."""
    headers = {"Authorization": f"Bearer {API_KEY}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    data = None if body is None else json.dumps(body).encode()
    for attempt in range(1, MOST_ATTEMPTS + 1):
        wait = random.uniform(0, 0.2 * 2**attempt)
        try:
            request = urllib.request.Request(URL + path, data=data, headers=headers, method=method)
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in RETRIED or attempt == MOST_ATTEMPTS:
                raise SystemExit(f"HTTP {error.code}: {reason(error)}")
            wait = float(error.headers.get("Retry-After", wait))
        except OSError as error:
            if attempt == MOST_ATTEMPTS:
                raise SystemExit(f"{URL} cannot be reached: {error}")
        time.sleep(wait)
    raise AssertionError("the last attempt returns or ends the program")


def reason(error: urllib.error.HTTPError) -> str:
    """What the service says, or a proxy in front of it."""
    try:
        return json.load(error)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return error.reason


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit('usage: log_call.py "who" "what was said"')
    who, content = sys.argv[1:]
    found = call("GET", "/v1/contacts?" + urllib.parse.urlencode({"query": who}))["data"]
    if len(found) != 1:
        raise SystemExit(f"{who}: {len(found)} contacts match, not one: " + ", ".join(contact["full_name"] or contact["id"] for contact in found))
    contact = found[0]
    # The same words about the same contact on the same day are one note.
    day = time.strftime("%Y-%m-%d", time.gmtime())
    key = hashlib.sha256(json.dumps([contact["id"], day, content]).encode()).hexdigest()
    note = call("POST", f"/v1/contacts/{contact['id']}/notes", {"content": content}, idempotency_key=key)["data"]
    print(f"{contact['full_name']}: note {note['id']} of {note['created_at']}")


main()
