#!/bin/sh
# Search, and a write that can be repeated, with curl: it waits and tries again by itself when the service says so.
set -eu
demo=${DATA_DIR:-$(dirname "$0")/../../data}/demo.json
# The first value of a name in the file that `npm start` writes. It is empty if that is null.
of_demo() { [ ! -f "$demo" ] || sed -n 's/.*"'"$1"'": "*\([^",}]*\).*/\1/p' "$demo" | sed 's/^null$//;q'; }
url=${RECORDS_URL:-$(of_demo base_url)}
key=${RECORDS_API_KEY:-$(of_demo api_key)}
if [ -z "$url" ] || [ -z "$key" ]; then
  echo 'There is no demo here (data/demo.json): run `npm start` first, or set RECORDS_URL and RECORDS_API_KEY.' >&2
  exit 1
fi

response=$(mktemp)
trap 'rm -f "$response"' EXIT

# The key goes in by standard input, because a list of processes shows the command line.
# The response goes to a file, which a new attempt begins anew.
call() {
  status=0
  printf 'header = "Authorization: Bearer %s"\n' "$key" |
    curl --config - --silent --show-error --fail-with-body --max-time 30 --retry 4 --retry-connrefused --output "$response" "$@" || status=$?
  cat "$response"
  echo
  return "$status"
}

echo "Health"
call "$url/v1/health"

echo "Contacts that match ${1:-mathieu}"
call --get --data-urlencode "query=${1:-mathieu}" "$url/v1/contacts"

# One name for one write: sent twice, written once, the same response.
write="curl-example-$(date +%s)-$$"
for attempt in first second; do
  echo "Creating a contact, $attempt time"
  call --header "Idempotency-Key: $write" --header 'Content-Type: application/json' --data '{"full_name":"Noor Haddad","phone":"+31 20 555 0188"}' "$url/v1/contacts"
done
