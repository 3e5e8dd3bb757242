"""Calls Records over gRPC with the Python client that grpcio-tools generates, and prints the results as JSON."""

import json
import os
import sys
from urllib.parse import urlsplit
from uuid import uuid4

import grpc
from google.rpc.error_details_pb2 import BadRequest
from grpc_status import rpc_status

sys.path.insert(0, "generated")
from records.v1.contacts_pb2 import CreateContactRequest, GetContactRequest, SearchContactsRequest
from records.v1.contacts_pb2_grpc import ContactServiceStub
from records.v1.notes_pb2 import NoteKind, SearchNotesRequest
from records.v1.notes_pb2_grpc import NoteServiceStub
from records.v1.sessions_pb2 import ListSessionsRequest
from records.v1.sessions_pb2_grpc import SessionServiceStub

channel = grpc.insecure_channel(urlsplit(os.environ["RECORDS_URL"]).netloc)
key = [("authorization", f"Bearer {os.environ['RECORDS_API_KEY']}")]
contacts = ContactServiceStub(channel)
report = {}

found = contacts.SearchContacts(SearchContactsRequest(query="ann"), metadata=key).contacts
report["found"] = len(found)
contact = contacts.GetContact(GetContactRequest(contact_id=found[0].id), metadata=key).contact
report["name"], report["created"] = contact.full_name, contact.created_at.seconds

body = CreateContactRequest(full_name="Grace Okafor", phone="+1 415 555 0199")
created = contacts.CreateContact(body, metadata=[*key, ("idempotency-key", str(uuid4()))]).contact
report["phone"], report["email"] = created.phone, created.email if created.HasField("email") else None

try:
    contacts.GetContact(GetContactRequest(contact_id=str(uuid4())), metadata=key)
except grpc.RpcError as error:
    report["missing"] = "404" if error.code() is grpc.StatusCode.NOT_FOUND else error.code().name
try:
    contacts.CreateContact(CreateContactRequest(full_name=""), metadata=key)
except grpc.RpcError as error:
    for detail in rpc_status.from_call(error).details:
        request = BadRequest()
        if detail.Unpack(request):
            report["invalid"] = request.field_violations[0].field

sessions, page = [], ListSessionsRequest(limit=25, offset=0)
setattr(page, "from", "2026-01-31")
while True:
    response = SessionServiceStub(channel).ListSessions(page, metadata=key)
    sessions += response.sessions
    if not response.pagination.has_more:
        break
    page.offset = response.pagination.next_offset
report["sessions"], report["started"] = len(sessions), sessions[0].session_date.seconds

notes = NoteServiceStub(channel).SearchNotes(SearchNotesRequest(query="an", limit=25), metadata=key).notes
report["kinds"] = sorted({NoteKind.Name(note.kind).removeprefix("NOTE_KIND_").lower() for note in notes})
print(json.dumps(report))
