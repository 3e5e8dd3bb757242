// Calls Records with the Go client that openapi-generator generates, and prints the results as JSON.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"generated/records"
)

const unknownID = "00000000-0000-4000-8000-000000000000"

func main() {
	configuration := records.NewConfiguration()
	configuration.Servers = records.ServerConfigurations{{URL: os.Getenv("RECORDS_URL")}}
	client := records.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), records.ContextAccessToken, os.Getenv("RECORDS_API_KEY"))
	report := map[string]any{}
	callContacts(ctx, client.ContactsAPI, report)
	listSessions(ctx, client.SessionsAPI, report)
	notes, _, err := client.NotesAPI.SearchNotes(ctx).Query("an").Limit(25).Execute()
	check(err)
	kinds := []string{}
	for _, note := range notes.Data {
		kinds = append(kinds, string(note.Kind))
	}
	slices.Sort(kinds)
	report["kinds"] = slices.Compact(kinds)
	check(json.NewEncoder(os.Stdout).Encode(report))
}

func callContacts(ctx context.Context, contacts *records.ContactsAPIService, report map[string]any) {
	found, _, err := contacts.SearchContacts(ctx).Query("ann").Execute()
	check(err)
	report["found"] = len(found.Data)
	one, _, err := contacts.GetContact(ctx, found.Data[0].Id).Execute()
	check(err)
	report["name"], report["created"] = one.Data.GetFullName(), one.Data.CreatedAt.Unix()

	body := records.NewCreateContactRequest("Grace Okafor")
	body.SetPhone("+1 415 555 0199")
	body.SetEmailNil()
	contact, _, err := contacts.CreateContact(ctx).CreateContactRequest(*body).IdempotencyKey(rand.Text()).Execute()
	check(err)
	report["phone"], report["email"] = contact.Data.Phone.Get(), contact.Data.Email.Get()

	_, _, err = contacts.GetContact(ctx, unknownID).Execute()
	report["missing"] = failure(err).Error.Code
	_, _, err = contacts.CreateContact(ctx).CreateContactRequest(records.CreateContactRequest{}).Execute()
	report["invalid"] = failure(err).Error.Details[0].Field
}

func listSessions(ctx context.Context, sessions *records.SessionsAPIService, report map[string]any) {
	offset, count := int32(0), 0
	for {
		page, _, err := sessions.ListSessions(ctx).From("2026-01-31").Limit(25).Offset(offset).Execute()
		check(err)
		if count == 0 {
			report["started"] = page.Data[0].SessionDate.Get().Unix()
		}
		count += len(page.Data)
		if !page.Pagination.HasMore {
			break
		}
		offset = *page.Pagination.NextOffset.Get()
	}
	report["sessions"] = count
}

func failure(err error) records.ErrorResult {
	var generic *records.GenericOpenAPIError
	if !errors.As(err, &generic) {
		check(fmt.Errorf("not an API error: %w", err))
	}
	return generic.Model().(records.ErrorResult)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
