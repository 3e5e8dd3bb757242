// What is read from the documents and written as JSON, and the search terms of a new contact.
package main

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The prefixes of a contact's words go up to so many letters; a whole word is kept with a blank behind it.
const longestPrefix = 12

type uuid struct{ bson.Binary }

func (u uuid) MarshalJSON() ([]byte, error) {
	text := hex.EncodeToString(u.Data)
	return json.Marshal(text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:])
}

func (u *uuid) UnmarshalBSONValue(kind byte, bytes []byte) error {
	return bson.RawValue{Type: bson.Type(kind), Value: bytes}.Unmarshal(&u.Binary)
}

type moment struct{ time.Time }

func (m moment) MarshalJSON() ([]byte, error) {
	return []byte(m.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

func (m *moment) UnmarshalBSONValue(kind byte, bytes []byte) error {
	return bson.RawValue{Type: bson.Type(kind), Value: bytes}.Unmarshal(&m.Time)
}

type contact struct {
	ID       uuid            `bson:"_id" json:"id"`
	FullName *string         `bson:"full_name" json:"full_name"`
	Email    *string         `bson:"email" json:"email"`
	Phone    *string         `bson:"phone" json:"phone"`
	Notes    *string         `bson:"notes" json:"notes"`
	Memory   *string         `bson:"memory" json:"memory"`
	Created  moment          `bson:"created_at" json:"created_at"`
	Updated  moment          `bson:"updated_at" json:"updated_at"`
	Timeline []note          `bson:"-" json:"notes_timeline"`
	Sessions []recentSession `bson:"-" json:"recent_sessions"`
	Inferred *string         `bson:"inferred_name" json:"inferred_name"`
	Archived *moment         `bson:"archived_at" json:"archived_at"`
}

type note struct {
	ID      uuid        `bson:"_id" json:"id"`
	Content string      `bson:"content" json:"content"`
	Source  string      `bson:"source" json:"source"`
	Created moment      `bson:"created_at" json:"created_at"`
	Updated moment      `bson:"updated_at" json:"updated_at"`
	Parent  bson.Binary `bson:"parent_id" json:"-"`
	Rank    int64       `bson:"rank" json:"-"`
}

type recentSession struct {
	ID       uuid        `bson:"_id" json:"id"`
	Title    *string     `bson:"title" json:"title"`
	Subtitle *string     `bson:"subtitle" json:"subtitle"`
	Date     moment      `bson:"session_date" json:"session_date"`
	Status   *string     `bson:"recording_status" json:"recording_status"`
	Contact  bson.Binary `bson:"contact_id" json:"-"`
	Rank     int64       `bson:"rank" json:"-"`
}

type session struct {
	ID         uuid    `bson:"_id" json:"id"`
	Title      *string `bson:"title" json:"title"`
	Subtitle   *string `bson:"subtitle" json:"subtitle"`
	Date       *moment `bson:"session_date" json:"session_date"`
	End        *moment `bson:"session_date_end" json:"session_date_end"`
	Status     *string `bson:"recording_status" json:"recording_status"`
	Source     *string `bson:"source" json:"source"`
	Conference *string `bson:"conference_provider" json:"conference_provider"`
	ContactID  *uuid   `bson:"contact_id" json:"-"`
	Names      struct {
		FullName *string `bson:"full_name"`
	} `bson:"client" json:"-"`
	Client *sessionClient `bson:"-" json:"client"`
}

type sessionClient struct {
	ID       *uuid   `json:"id"`
	FullName *string `json:"full_name"`
}

type pagination struct {
	Limit      int  `json:"limit"`
	Offset     int  `json:"offset"`
	HasMore    bool `json:"has_more"`
	NextOffset *int `json:"next_offset"`
}

type contactFields struct {
	FullName string  `json:"full_name"`
	Email    *string `json:"email"`
	Phone    *string `json:"phone"`
}

// The text of all words and their prefixes, as the service stores them.
func terms(fields contactFields) (string, []string) {
	words := wordsOf(fields.FullName)
	if fields.Email != nil {
		words = append(words, wordsOf(*fields.Email)...)
	}
	if fields.Phone != nil {
		words = append(append(words, wordsOf(*fields.Phone)...), digits(*fields.Phone))
	}
	text, all, seen := " ", []string{}, map[string]bool{}
	add := func(term string) {
		if !seen[term] {
			seen[term] = true
			all = append(all, term)
		}
	}
	for _, word := range words {
		if seen[word+" "] {
			continue
		}
		for end := 1; end <= min(len(word), longestPrefix); end++ {
			add(word[:end])
		}
		add(word + " ")
		text += word + " "
	}
	return text, all
}

// The bench's queries and new contacts are of ASCII letters: there is nothing to fold but case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(letter rune) bool {
		return !(letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9')
	})
}

func digits(text string) string {
	return strings.Map(func(letter rune) rune {
		if letter < '0' || letter > '9' {
			return -1
		}
		return letter
	}, text)
}
