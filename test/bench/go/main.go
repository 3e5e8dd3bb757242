// The peer in Go: net/http and the official driver, written as one does by hand, with the key looked up and a bucket in Redis.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

func main() {
	journal := true
	majority := &writeconcern.WriteConcern{W: "majority", Journal: &journal}
	client, err := mongo.Connect(options.Client().ApplyURI(os.Getenv("MONGODB_URI")).SetWriteConcern(majority))
	if err != nil {
		panic(err)
	}
	address, err := redis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		panic(err)
	}
	db := client.Database("records")
	guard := newGuard(db, redis.NewClient(address))
	records := records{db}
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stdout, nil)))

	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/contacts/{id}", guard.read(func(ctx context.Context, account bson.Binary, request *http.Request) (int, any, error) {
		id, err := parseUUID(request.PathValue("id"))
		if err != nil {
			return 422, problem("422"), nil
		}
		contact, err := records.contact(ctx, account, id)
		if err == mongo.ErrNoDocuments {
			return 404, problem("404"), nil
		}
		return 200, data{contact}, err
	}))
	mux.HandleFunc("GET /v1/contacts", guard.read(func(ctx context.Context, account bson.Binary, request *http.Request) (int, any, error) {
		query := request.URL.Query().Get("query")
		if len(query) < 2 || len(query) > 100 {
			return 422, problem("422"), nil
		}
		contacts, err := records.search(ctx, account, query)
		return 200, data{contacts}, err
	}))
	mux.HandleFunc("GET /v1/sessions", guard.read(func(ctx context.Context, account bson.Binary, request *http.Request) (int, any, error) {
		limit, offset := number(request, "limit", 10), number(request, "offset", 0)
		if limit < 1 || limit > 25 || offset < 0 {
			return 422, problem("422"), nil
		}
		page, err := records.sessions(ctx, account, limit, offset)
		return 200, page, err
	}))
	mux.HandleFunc("POST /v1/contacts", guard.write(func(ctx context.Context, account bson.Binary, request *http.Request) (int, any, error) {
		var fields contactFields
		decoder := json.NewDecoder(http.MaxBytesReader(nil, request.Body, 1<<20))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&fields); err != nil || fields.FullName == "" || len(fields.FullName) > 200 {
			return 422, problem("422"), nil
		}
		contact, err := records.create(ctx, account, fields)
		if mongo.IsDuplicateKeyError(err) {
			return 409, problem("409"), nil
		}
		return 201, data{contact}, err
	}))
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
	os.Exit(1)
}

type data struct {
	Data any `json:"data"`
}

func problem(code string) any {
	return map[string]any{"error": map[string]string{"code": code, "message": http.StatusText(must(strconv.Atoi(code)))}}
}

func number(request *http.Request, name string, otherwise int) int {
	text := request.URL.Query().Get(name)
	if text == "" {
		return otherwise
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return value
}

// Writes a response and the line of the log.
func writeResponse(response http.ResponseWriter, request *http.Request, begun time.Time, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = 500, []byte("{}")
	}
	response.Header().Set("Content-Type", "application/json; charset=utf-8")
	response.Header().Set("Content-Length", strconv.Itoa(len(text)))
	response.WriteHeader(status)
	response.Write(text)
	slog.Info("request", "method", request.Method, "path", request.URL.Path, "status", status, "ms", time.Since(begun).Milliseconds())
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
