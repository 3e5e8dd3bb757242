// Calls Records with the Go client that protoc-gen-connect-go generates, and prints the results as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	recordsv1 "example.com/app/gen/records/v1"
	"example.com/app/gen/records/v1/recordsv1connect"
)

func main() {
	ctx := context.Background()
	url, httpClient := os.Getenv("RECORDS_URL"), http.DefaultClient
	withKey := connect.WithInterceptors(connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			request.Header().Set("Authorization", "Bearer "+os.Getenv("RECORDS_API_KEY"))
			return next(ctx, request)
		}
	}))
	contacts := recordsv1connect.NewContactServiceClient(httpClient, url, withKey)
	sessions := recordsv1connect.NewSessionServiceClient(httpClient, url, withKey)
	notes := recordsv1connect.NewNoteServiceClient(httpClient, url, withKey)
	report := map[string]any{}

	found, err := contacts.SearchContacts(ctx, connect.NewRequest(&recordsv1.SearchContactsRequest{Query: "ann"}))
	check(err)
	report["found"] = len(found.Msg.Contacts)
	id := found.Msg.Contacts[0].Id
	one, err := contacts.GetContact(ctx, connect.NewRequest(&recordsv1.GetContactRequest{ContactId: id}))
	check(err)
	report["name"], report["created"] = one.Msg.Contact.GetFullName(), one.Msg.Contact.CreatedAt.Seconds

	phone := "+1 415 555 0199"
	write := connect.NewRequest(&recordsv1.CreateContactRequest{FullName: "Grace Okafor", Phone: &phone})
	write.Header().Set("Idempotency-Key", fmt.Sprintf("go-%d", os.Getpid()))
	created, err := contacts.CreateContact(ctx, write)
	check(err)
	report["phone"], report["email"] = created.Msg.Contact.Phone, created.Msg.Contact.Email

	unknown := "00000000-0000-4000-8000-000000000000"
	_, err = contacts.GetContact(ctx, connect.NewRequest(&recordsv1.GetContactRequest{ContactId: unknown}))
	if connect.CodeOf(err) == connect.CodeNotFound {
		report["missing"] = "404"
	}
	_, err = contacts.CreateContact(ctx, connect.NewRequest(&recordsv1.CreateContactRequest{}))
	report["invalid"] = invalidField(err)

	from, limit := "2026-01-31", int32(25)
	page := &recordsv1.ListSessionsRequest{From: &from, Limit: &limit}
	count := 0
	for {
		list, err := sessions.ListSessions(ctx, connect.NewRequest(page))
		check(err)
		if count == 0 {
			report["started"] = list.Msg.Sessions[0].SessionDate.Seconds
		}
		count += len(list.Msg.Sessions)
		if !list.Msg.Pagination.HasMore {
			break
		}
		page.Offset = list.Msg.Pagination.NextOffset
	}
	report["sessions"] = count

	texts, err := notes.SearchNotes(ctx, connect.NewRequest(&recordsv1.SearchNotesRequest{Query: "an", Limit: &limit}))
	check(err)
	kinds := []string{}
	for _, note := range texts.Msg.Notes {
		kinds = append(kinds, strings.ToLower(strings.TrimPrefix(note.Kind.String(), "NOTE_KIND_")))
	}
	slices.Sort(kinds)
	report["kinds"] = slices.Compact(kinds)
	check(json.NewEncoder(os.Stdout).Encode(report))
}

func invalidField(err error) string {
	var failure *connect.Error
	if errors.As(err, &failure) {
		for _, detail := range failure.Details() {
			value, err := detail.Value()
			check(err)
			if request, ok := value.(*errdetails.BadRequest); ok {
				return request.FieldViolations[0].Field
			}
		}
	}
	return ""
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
