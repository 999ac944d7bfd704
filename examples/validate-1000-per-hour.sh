#!/usr/bin/env bash
# Does this Vault issue at least 1000 certificates an hour, 95 % of them within a second?
#
#   export VAULT_ADDR=https://vault.example.com:8200 VAULT_TOKEN=...
#   examples/validate-1000-per-hour.sh [FILE.json] [OPTION of vault-pki-load issue]...
#
# Sends 1100 requests an hour (a tenth more than required) for ten minutes to MOUNT and ROLE, checks every
# certificate, writes the result to FILE.json and returns the exit code of vault-pki-load:
# 0 validated; 1 wrong usage or no token; 2 Vault refused or was unreachable; 98 the measurement is invalid;
# 99 not met or not proven.
set -uo pipefail

MOUNT=${MOUNT:-pki_int}
ROLE=${ROLE:-example-dot-com}
COMMON_NAME=${COMMON_NAME:-localhost}
DURATION=${DURATION:-10m}
RATE=${RATE:-1100/h}
REQUIRED=${REQUIRED:-1000/h}
LIMIT=${LIMIT:-1s}
ERRORS=${ERRORS:-2%}

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
file=validate-1000-per-hour.json
if [[ $# -gt 0 && $1 != -* ]]; then
  file=$1
  shift
fi

if [[ -z ${VAULT_ADDR:-${BAO_ADDR:-}} ]]; then
  echo 'Set VAULT_ADDR to the address of Vault, e.g. http://127.0.0.1:8200, and VAULT_TOKEN to a token.' >&2
  exit 1
fi

"${NODE:-node}" "$here/../bin/vault-pki-load.js" issue \
  --mount "$MOUNT" --role "$ROLE" --cn "$COMMON_NAME" \
  --rate "$RATE" --duration "$DURATION" \
  --require "rate>=$REQUIRED" --require "p95<$LIMIT" --require "errors<$ERRORS" \
  --out "$file" "$@"
code=$?

case $code in
0) echo "Validated: $REQUIRED with $ROLE on $MOUNT. The result is in $file." ;;
99)
  echo "Not validated; see the requirements above. The result is in $file."
  echo 'not met:    check the outcomes and the service time, the part that Vault takes: the key type of the role'
  echo '            matters most (Vault generates RSA keys slowly), then storage and generate_lease.'
  echo "not proven: there were too few requests to decide; run longer, e.g. DURATION=1h."
  ;;
98)
  echo 'Nothing is proven either way: this machine could not send as planned, so the figures describe the tool.'
  echo 'Follow the remedy above (a machine with more free CPU), then run it again.'
  ;;
2) echo 'Nothing was measured: Vault refused or was unreachable; see the message above.' ;;
130) echo "Interrupted: nothing is proven. The results so far are in $file." ;;
esac >&2
exit "$code"
