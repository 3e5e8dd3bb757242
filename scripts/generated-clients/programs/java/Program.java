// Calls Records with the Java client that openapi-generator generates, and prints the results as JSON.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import records.ApiClient;
import records.ApiException;
import records.api.ContactsApi;
import records.api.NotesApi;
import records.api.SessionsApi;
import records.model.Contact;
import records.model.CreateContactRequest;
import records.model.ErrorResult;
import records.model.ListSessionsResult;
import records.model.NoteSearchResult;

public final class Program {
  private static final ApiClient client = new ApiClient();
  private static final Map<String, Object> report = new LinkedHashMap<>();

  public static void main(String[] args) throws Exception {
    client.updateBaseUri(System.getenv("RECORDS_URL"));
    String authorization = "Bearer " + System.getenv("RECORDS_API_KEY");
    client.setRequestInterceptor(request -> request.header("Authorization", authorization));
    callContacts();
    listSessions();
    TreeSet<String> kinds = new TreeSet<>();
    for (NoteSearchResult note : new NotesApi(client).searchNotes("an", 25, null).getData())
      kinds.add(note.getKind().getValue());
    report.put("kinds", kinds);
    System.out.println(new ObjectMapper().writeValueAsString(report));
  }

  private static void callContacts() throws Exception {
    ContactsApi contacts = new ContactsApi(client);
    var found = contacts.searchContacts("ann").getData();
    report.put("found", found.size());
    Contact contact = contacts.getContact(found.get(0).getId()).getData();
    report.put("name", contact.getFullName());
    report.put("created", contact.getCreatedAt().toEpochSecond());

    CreateContactRequest body = new CreateContactRequest();
    body.fullName("Grace Okafor").phone("+1 415 555 0199").email(null);
    Contact created = contacts.createContact(body, UUID.randomUUID().toString()).getData();
    report.put("phone", created.getPhone());
    report.put("email", created.getEmail());

    ErrorResult missing = failure(() -> contacts.getContact(UUID.randomUUID()));
    report.put("missing", missing.getError().getCode());
    ErrorResult invalid = failure(() -> contacts.createContact(new CreateContactRequest().fullName(""), null));
    report.put("invalid", invalid.getError().getDetails().get(0).getField());
  }

  private static void listSessions() throws ApiException {
    SessionsApi sessions = new SessionsApi(client);
    Integer offset = 0;
    int count = 0;
    while (offset != null) {
      ListSessionsResult page = sessions.listSessions(null, null, "2026-01-31", null, 25, offset);
      if (count == 0) report.put("started", page.getData().get(0).getSessionDate().toEpochSecond());
      count += page.getData().size();
      offset = page.getPagination().getNextOffset();
    }
    report.put("sessions", count);
  }

  private interface Call {
    void run() throws ApiException;
  }

  private static ErrorResult failure(Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException error) {
      return client.getObjectMapper().readValue(error.getResponseBody(), ErrorResult.class);
    }
    throw new IllegalStateException("the call did not fail");
  }
}
