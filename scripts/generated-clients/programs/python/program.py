"""Calls Records with the Python client that openapi-generator generates, and prints the results as JSON."""

import json
import os
from uuid import uuid4

from records_client import ApiClient, Configuration, ContactsApi, NotesApi, SessionsApi
from records_client.exceptions import NotFoundException, UnprocessableEntityException
from records_client.models import CreateContactRequest, ErrorResult, NoteKind

configuration = Configuration(host=os.environ["RECORDS_URL"], access_token=os.environ["RECORDS_API_KEY"])
client = ApiClient(configuration)
contacts = ContactsApi(client)
report = {}

found = contacts.search_contacts("ann").data
report["found"] = len(found)
contact = contacts.get_contact(found[0].id).data
report["name"] = contact.full_name
report["created"] = int(contact.created_at.timestamp())

body = CreateContactRequest(full_name="Grace Okafor", phone="+1 415 555 0199", email=None)
created = contacts.create_contact(body, idempotency_key=str(uuid4())).data
report["phone"], report["email"] = created.phone, created.email

try:
    contacts.get_contact(uuid4())
except NotFoundException as error:
    assert isinstance(error.data, ErrorResult), error
    report["missing"] = error.data.error.code
try:
    # The client checks the length itself unless the model is constructed without validation.
    contacts.create_contact(CreateContactRequest.model_construct(full_name=""))
except UnprocessableEntityException as error:
    report["invalid"] = error.data.error.details[0].var_field

sessions, offset = [], 0
while offset is not None:
    page = SessionsApi(client).list_sessions(var_from="2026-01-31", limit=25, offset=offset)
    sessions += page.data
    offset = page.pagination.next_offset
report["sessions"] = len(sessions)
report["started"] = int(sessions[0].session_date.timestamp())

notes = NotesApi(client).search_notes("an", limit=25).data
assert all(isinstance(note.kind, NoteKind) for note in notes)
report["kinds"] = sorted({note.kind.value for note in notes})
print(json.dumps(report))
