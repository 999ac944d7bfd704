#!/usr/bin/env bash
# Does this Vault's OCSP responder handle 20 requests a second, 99 % of them within 200 ms?
#
#   export VAULT_ADDR=https://vault.example.com:8200
#   examples/ocsp-response-time.sh --cert leaf.crt --issuer issuer.pem
#   VAULT_TOKEN=... examples/ocsp-response-time.sh             # issues one certificate
#
# Accepts the options of vault-pki-load ocsp, e.g. --ocsp-url for another responder. OCSP itself needs no token. Writes the
# result to OUT and returns the exit code of vault-pki-load (see validate-1000-per-hour.sh).
set -uo pipefail

MOUNT=${MOUNT:-pki_int}
RATE=${RATE:-20/s}
DURATION=${DURATION:-2m}
LIMIT=${LIMIT:-200ms}
ERRORS=${ERRORS:-0.2%}
OUT=${OUT:-ocsp-response-time.json}

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

"${NODE:-node}" "$here/../bin/vault-pki-load.js" ocsp \
  --mount "$MOUNT" --rate "$RATE" --duration "$DURATION" \
  --require "p99<$LIMIT" --require "errors<$ERRORS" \
  --out "$OUT" "$@"
code=$?

case $code in
0) echo "Fast enough: p99 below $LIMIT at $RATE. The result is in $OUT." ;;
99)
  echo "Not fast enough, or too few requests to decide; see the lines above. The result is in $OUT."
  echo 'Compare response time with service time: if only the response time is long, requests waited for a'
  echo 'free connection; if both are long, the responder is slow. Not proven: increase DURATION.'
  ;;
98)
  echo 'Nothing is proven either way: this machine could not send as planned, so the figures describe the tool.'
  echo 'Follow the remedy above, then run it again.'
  ;;
esac >&2
exit "$code"
