// The records: a find for each collection, over the documents that the service stores.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sort"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const (
	timelineLength = 50
	sessionsLength = 5
	searchLength   = 25
	// Ranks count steps of a 256th of a millisecond from 2020; those of records without a date lie below all others.
	steps      = 256
	firstDated = -(int64(1) << 55)
)

var (
	epoch         = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	newest        = bson.D{{Key: "rank", Value: -1}}
	withoutTerms  = bson.D{{Key: "n", Value: 0}, {Key: "g", Value: 0}}
	noteFields    = fields("content", "source", "created_at", "updated_at", "parent_id", "rank")
	sessionFields = fields("title", "subtitle", "session_date", "recording_status", "contact_id", "rank")
)

type records struct{ db *mongo.Database }

// A page of sessions, as it is returned.
type sessionPage struct {
	Data       []session  `json:"data"`
	Pagination pagination `json:"pagination"`
}

func (r records) contact(ctx context.Context, account, id bson.Binary) (*contact, error) {
	var found contact
	notes, sessions := []note{}, []recentSession{}
	err := together(
		func() error {
			filter := bson.D{{Key: "_id", Value: id}, {Key: "account_id", Value: account}}
			return r.db.Collection("contacts").FindOne(ctx, filter, options.FindOne().SetProjection(withoutTerms)).Decode(&found)
		},
		func() error {
			filter := bson.D{{Key: "account_id", Value: account}, {Key: "parent_id", Value: id}, {Key: "kind", Value: "contact"}}
			return r.find(ctx, "notes", filter, noteFields, timelineLength, 0, &notes)
		},
		func() error {
			filter := bson.D{{Key: "account_id", Value: account}, {Key: "contact_id", Value: id}, {Key: "rank", Value: past()}}
			return r.find(ctx, "sessions", filter, sessionFields, sessionsLength, 0, &sessions)
		},
	)
	found.Timeline, found.Sessions = notes, sessions
	return &found, err
}

func (r records) sessions(ctx context.Context, account bson.Binary, limit, offset int) (*sessionPage, error) {
	found := []session{}
	without := bson.D{{Key: "n", Value: 0}, {Key: "g", Value: 0}, {Key: "own", Value: 0}}
	if err := r.find(ctx, "sessions", bson.D{{Key: "account_id", Value: account}}, without, limit+1, offset, &found); err != nil {
		return nil, err
	}
	page := pagination{Limit: limit, Offset: offset, HasMore: len(found) > limit}
	if page.HasMore {
		next := offset + limit
		page.NextOffset, found = &next, found[:limit]
	}
	for at := range found {
		if found[at].ContactID != nil {
			found[at].Client = &sessionClient{found[at].ContactID, found[at].Names.FullName}
		}
	}
	return &sessionPage{found, page}, nil
}

// Contacts that match: those with whole words first; then two finds for everybody's notes and sessions, cut here.
func (r records) search(ctx context.Context, account bson.Binary, query string) ([]*contact, error) {
	words := wordsOf(query)
	if len(words) == 0 {
		return []*contact{}, nil
	}
	whole, beginning := []*contact{}, []*contact{}
	find := func(term, ending string, into *[]*contact) func() error {
		filter := bson.D{{Key: "account_id", Value: account}, {Key: "g", Value: term}}
		checks := bson.A{}
		for _, word := range words[1:] {
			checks = append(checks, bson.D{{Key: "n", Value: bson.Regex{Pattern: " " + word + ending}}})
		}
		if len(checks) > 0 {
			filter = append(filter, bson.E{Key: "$and", Value: checks})
		}
		return func() error { return r.find(ctx, "contacts", filter, withoutTerms, searchLength, 0, into) }
	}
	first := words[0]
	if err := together(find(first+" ", " ", &whole), find(first[:min(len(first), longestPrefix)], "", &beginning)); err != nil {
		return nil, err
	}
	found, byID := []*contact{}, map[string]*contact{}
	for _, one := range append(whole, beginning...) {
		id := string(one.ID.Data)
		if byID[id] == nil && len(found) < searchLength {
			one.Timeline, one.Sessions = []note{}, []recentSession{}
			byID[id] = one
			found = append(found, one)
		}
	}
	return found, r.hydrate(ctx, account, found, byID)
}

func (r records) hydrate(ctx context.Context, account bson.Binary, found []*contact, byID map[string]*contact) error {
	ids := bson.A{}
	for _, one := range found {
		ids = append(ids, one.ID.Binary)
	}
	in := bson.D{{Key: "$in", Value: ids}}
	notes, sessions := []note{}, []recentSession{}
	err := together(
		func() error {
			filter := bson.D{{Key: "account_id", Value: account}, {Key: "parent_id", Value: in}, {Key: "kind", Value: "contact"}}
			return r.findAll(ctx, "notes", filter, noteFields, &notes)
		},
		func() error {
			filter := bson.D{{Key: "account_id", Value: account}, {Key: "contact_id", Value: in}, {Key: "rank", Value: past()}}
			return r.findAll(ctx, "sessions", filter, sessionFields, &sessions)
		},
	)
	sort.Slice(notes, func(a, b int) bool { return notes[a].Rank > notes[b].Rank })
	sort.Slice(sessions, func(a, b int) bool { return sessions[a].Rank > sessions[b].Rank })
	for _, one := range notes {
		if owner := byID[string(one.Parent.Data)]; len(owner.Timeline) < timelineLength {
			owner.Timeline = append(owner.Timeline, one)
		}
	}
	for _, one := range sessions {
		if owner := byID[string(one.Contact.Data)]; len(owner.Sessions) < sessionsLength {
			owner.Sessions = append(owner.Sessions, one)
		}
	}
	return err
}

func (r records) create(ctx context.Context, account bson.Binary, fields contactFields) (*contact, error) {
	bytes := make([]byte, 16)
	rand.Read(bytes)
	bytes[6], bytes[8] = bytes[6]&0x0f|0x40, bytes[8]&0x3f|0x80
	now := time.Now().UTC().Truncate(time.Millisecond)
	id := uuid{bson.Binary{Subtype: 4, Data: bytes}}
	n, g := terms(fields)
	document := bson.D{
		{Key: "_id", Value: id.Binary}, {Key: "account_id", Value: account}, {Key: "version", Value: 1}, {Key: "notes", Value: nil}, {Key: "memory", Value: nil},
		{Key: "inferred_name", Value: nil}, {Key: "full_name", Value: fields.FullName}, {Key: "email", Value: fields.Email}, {Key: "phone", Value: fields.Phone},
		{Key: "created_at", Value: now}, {Key: "updated_at", Value: now}, {Key: "archived_at", Value: nil},
		{Key: "rank", Value: (now.UnixMilli()-epoch)*steps + int64(bytes[15])},
	}
	if fields.Email != nil {
		document = append(document, bson.E{Key: "email_key", Value: strings.ToLower(*fields.Email)})
	}
	document = append(document, bson.E{Key: "n", Value: n}, bson.E{Key: "g", Value: g})
	made := &contact{ID: id, FullName: &fields.FullName, Email: fields.Email, Phone: fields.Phone, Created: moment{now}, Updated: moment{now}, Timeline: []note{}, Sessions: []recentSession{}}
	_, err := r.db.Collection("contacts").InsertOne(ctx, document)
	return made, err
}

func (r records) find(ctx context.Context, collection string, filter, projection bson.D, limit, offset int, into any) error {
	// A negative limit requests a single batch.
	settings := options.Find().SetProjection(projection).SetSort(newest).SetLimit(-int64(limit)).SetSkip(int64(offset))
	cursor, err := r.db.Collection(collection).Find(ctx, filter, settings)
	if err != nil {
		return err
	}
	return cursor.All(ctx, into)
}

func (r records) findAll(ctx context.Context, collection string, filter, projection bson.D, into any) error {
	cursor, err := r.db.Collection(collection).Find(ctx, filter, options.Find().SetProjection(projection))
	if err != nil {
		return err
	}
	return cursor.All(ctx, into)
}

func past() bson.D {
	return bson.D{{Key: "$gte", Value: firstDated}, {Key: "$lt", Value: (time.Now().UnixMilli() + 1 - epoch) * steps}}
}

func fields(names ...string) bson.D {
	all := bson.D{}
	for _, name := range names {
		all = append(all, bson.E{Key: name, Value: 1})
	}
	return all
}

func together(work ...func() error) error {
	all := make([]error, len(work))
	var group sync.WaitGroup
	for at, one := range work {
		group.Go(func() { all[at] = one() })
	}
	group.Wait()
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func parseUUID(text string) (bson.Binary, error) {
	bytes, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(bytes) != 16 {
		return bson.Binary{}, errors.New("no UUID")
	}
	return bson.Binary{Subtype: 4, Data: bytes}, nil
}
