#!/bin/sh
# Prints the Secrets of the distributed form, new ones with every call, and nothing else:
#
#   secrets.sh 'postgres://keelson:PASSWORD@HOST/{service}' redis://HOST:6379 nats://HOST:4222 \
#     | kubectl create -n keelson -f -
#
# `{service}` stands for sys, pki, workspace: each has a database of its own. Without arguments they are for
# the trial, whose PostgreSQL gets its password here. The services show NATS the nkey of these Secrets: a server of your
# own admits it with the lines of nats.conf in the Secret keelson-nats. `create`, because another internal CA or another key of
# the seal in a running installation would lock it out. unseal.key opens the seal: keep a copy of it, or
# leave it out and open the seal with key shares.
set -eu
cd "$(dirname "$0")/../.."
node=node_modules/node/bin/node

databases=${1:-}
redis=${2:-redis://redis:6379}
nats=${3:-nats://nats:4222}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$node" --disable-sigusr1 libs/rpc/src/internal-issuer/main.ts "$folder" >/dev/null

encoded() { openssl base64 -A; }
secret() { # name, then one line `key: value in base64` each
  printf -- '---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: %s\ntype: Opaque\ndata:\n' "$1"
  shift
  printf '  %s\n' "$@"
}
text() { printf '%s: %s' "$1" "$(printf %s "$2" | encoded)"; }
file() { printf '%s: %s' "$2" "$(encoded <"$folder/$1/$2")"; }
database() { text database-url "$(printf %s "$databases" | sed "s/{service}/$1/")"; }

if [ -z "$databases" ]; then
  password=$(openssl rand -hex 24)
  databases="postgres://postgres:$password@postgres/{service}"
  secret keelson-postgres "$(text password "$password")"
fi
secret keelson-sys "$(database sys)" "$(text redis-url "$redis")" "$(text nats-url "$nats")" \
  "$(file sys internal-ca.pem)" "$(file sys nats.nkey)" "$(text unseal.key "$(openssl rand -base64 32)")"
secret keelson-pki "$(database pki)" "$(text redis-url "$redis")" "$(text nats-url "$nats")" \
  "$(file pki internal-ca-certificate.pem)" "$(file pki join-token)" "$(file pki nats.nkey)"
secret keelson-workspace "$(database workspace)" "$(text redis-url "$redis")" "$(text nats-url "$nats")" \
  "$(file workspace internal-ca-certificate.pem)" "$(file workspace join-token)" "$(file workspace nats.nkey)" \
  "$(text bootstrap-token "$(openssl rand -hex 32)")" "$(text runner-token "$(openssl rand -hex 32)")"
secret keelson-gateway "$(text redis-url "$redis")" \
  "$(file gateway internal-ca-certificate.pem)" "$(file gateway join-token)"
secret keelson-nats "$(file nats nats.conf)"
