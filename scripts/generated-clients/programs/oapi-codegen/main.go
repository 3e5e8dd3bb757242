// Calls Records with the Go client that oapi-codegen generates, and prints the results as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"

	"github.com/google/uuid"

	"generated/records"
)

func main() {
	withKey := records.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("RECORDS_API_KEY"))
		return nil
	})
	client, err := records.NewClientWithResponses(os.Getenv("RECORDS_URL"), withKey)
	check(err)
	report := map[string]any{}
	callContacts(client, report)
	listSessions(client, report)
	searchNotes(client, report)
	check(json.NewEncoder(os.Stdout).Encode(report))
}

func callContacts(client *records.ClientWithResponses, report map[string]any) {
	ctx := context.Background()
	found, err := client.SearchContactsWithResponse(ctx, &records.SearchContactsParams{Query: "ann"})
	check(err)
	report["found"] = len(found.JSON200.Data)
	one, err := client.GetContactWithResponse(ctx, found.JSON200.Data[0].Id)
	check(err)
	report["name"] = *one.JSON200.Data.FullName
	report["created"] = one.JSON200.Data.CreatedAt.Unix()

	phone, key := "+1 415 555 0199", uuid.NewString()
	contact, err := client.CreateContactWithResponse(ctx, &records.CreateContactParams{IdempotencyKey: &key},
		records.CreateContactRequest{FullName: "Grace Okafor", Phone: &phone, Email: nil})
	check(err)
	report["phone"], report["email"] = contact.JSON201.Data.Phone, contact.JSON201.Data.Email

	missing, err := client.GetContactWithResponse(ctx, uuid.New())
	check(err)
	report["missing"] = missing.JSON404.Error.Code
	invalid, err := client.CreateContactWithResponse(ctx, nil, records.CreateContactRequest{})
	check(err)
	report["invalid"] = (*invalid.JSON422.Error.Details)[0].Field
}

func listSessions(client *records.ClientWithResponses, report map[string]any) {
	from, limit, offset, count := "2026-01-31", int32(25), int32(0), 0
	for {
		params := records.ListSessionsParams{From: &from, Limit: &limit, Offset: &offset}
		page, err := client.ListSessionsWithResponse(context.Background(), &params)
		check(err)
		if count == 0 {
			report["started"] = page.JSON200.Data[0].SessionDate.Unix()
		}
		count += len(page.JSON200.Data)
		if !page.JSON200.Pagination.HasMore {
			break
		}
		offset = *page.JSON200.Pagination.NextOffset
	}
	report["sessions"] = count
}

func searchNotes(client *records.ClientWithResponses, report map[string]any) {
	limit := int32(25)
	params := records.SearchNotesParams{Query: "an", Limit: &limit}
	notes, err := client.SearchNotesWithResponse(context.Background(), &params)
	check(err)
	kinds := []string{}
	for _, note := range notes.JSON200.Data {
		if !note.Kind.Valid() {
			check(fmt.Errorf("the kind %s is not in the enum", note.Kind))
		}
		kinds = append(kinds, string(note.Kind))
	}
	slices.Sort(kinds)
	report["kinds"] = slices.Compact(kinds)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
