// Authentication and throttling: the key by its hash in MongoDB, and a token bucket in Redis, both at once.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var takeToken = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local tokens = math.min(burst, (tonumber(bucket[1]) or burst) + (now - (tonumber(bucket[2]) or now)) * rate)
if tokens < 1 then return 0 end
redis.call('HSET', KEYS[1], 'tokens', tokens - 1, 'at', now)
redis.call('EXPIRE', KEYS[1], 60)
return 1
`)

type guard struct {
	keys        *mongo.Collection
	redis       *redis.Client
	rate, burst int
}

type handler func(ctx context.Context, account bson.Binary, request *http.Request) (int, any, error)

func newGuard(db *mongo.Database, client *redis.Client) guard {
	return guard{db.Collection("api_keys"), client, must(strconv.Atoi(os.Getenv("RATE_LIMIT"))), must(strconv.Atoi(os.Getenv("RATE_BURST")))}
}

func (g guard) read(next handler) http.HandlerFunc  { return g.guarded(next, false) }
func (g guard) write(next handler) http.HandlerFunc { return g.guarded(next, true) }

func (g guard) guarded(next handler, writes bool) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		begun := time.Now()
		response.Header().Set("RateLimit-Limit", strconv.Itoa(g.rate))
		response.Header().Set("RateLimit-Policy", strconv.Itoa(g.rate)+";w=1")
		account, rejected := g.account(request, writes)
		if rejected != 0 {
			writeResponse(response, request, begun, rejected, problem(strconv.Itoa(rejected)))
			return
		}
		ctx, cancel := context.WithTimeout(request.Context(), 5*time.Second)
		defer cancel()
		status, body, err := next(ctx, account, request)
		if err != nil {
			status, body = 500, problem("500")
		}
		writeResponse(response, request, begun, status, body)
	}
}

// The account that the key opens, or the status of the rejection.
func (g guard) account(request *http.Request, writes bool) (bson.Binary, int) {
	secret, found := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if !found {
		return bson.Binary{}, 401
	}
	hash := sha256.Sum256([]byte(secret))
	token := make(chan int, 1)
	go func() {
		name := "bench:" + base64.StdEncoding.EncodeToString(hash[:])
		taken, err := takeToken.Run(request.Context(), g.redis, []string{name}, g.rate, g.burst).Int()
		if err != nil {
			taken = 1
		}
		token <- taken
	}()
	var key struct {
		Account bson.Binary `bson:"account_id"`
		Access  string      `bson:"access"`
	}
	err := g.keys.FindOne(request.Context(), bson.D{{Key: "_id", Value: bson.Binary{Data: hash[:]}}, {Key: "active", Value: true}}).Decode(&key)
	switch {
	case <-token == 0:
		return bson.Binary{}, 429
	case err != nil:
		return bson.Binary{}, 401
	case writes && key.Access == "read_only":
		return bson.Binary{}, 403
	}
	return key.Account, 0
}
