"""Calls Records with the Python client that openapi-python-client generates, and prints the results as JSON."""

import json
import os
from uuid import uuid4

from records_client import AuthenticatedClient
from records_client.api.contacts import create_contact, get_contact, search_contacts
from records_client.api.notes import search_notes
from records_client.api.sessions import list_sessions
from records_client.models import CreateContactRequest, ErrorResult, NoteKind

client = AuthenticatedClient(base_url=os.environ["RECORDS_URL"], token=os.environ["RECORDS_API_KEY"])
report = {}

found = search_contacts.sync(client=client, query="ann").data
report["found"] = len(found)
contact = get_contact.sync(found[0].id, client=client).data
report["name"] = contact.full_name
report["created"] = int(contact.created_at.timestamp())

body = CreateContactRequest(full_name="Grace Okafor", phone="+1 415 555 0199", email=None)
created = create_contact.sync(client=client, body=body, idempotency_key=str(uuid4())).data
report["phone"], report["email"] = created.phone, created.email

missing = get_contact.sync(uuid4(), client=client)
assert isinstance(missing, ErrorResult), missing
report["missing"] = missing.error.code
invalid = create_contact.sync(client=client, body=CreateContactRequest(full_name=""))
assert isinstance(invalid, ErrorResult), invalid
report["invalid"] = invalid.error.details[0].field

sessions, offset = [], 0
while offset is not None:
    page = list_sessions.sync(client=client, from_="2026-01-31", limit=25, offset=offset)
    sessions += page.data
    offset = page.pagination.next_offset
report["sessions"] = len(sessions)
report["started"] = int(sessions[0].session_date.timestamp())

notes = search_notes.sync(client=client, query="an", limit=25).data
assert all(isinstance(note.kind, NoteKind) for note in notes)
report["kinds"] = sorted({note.kind.value for note in notes})
print(json.dumps(report))
