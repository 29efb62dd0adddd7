#!/bin/sh
# Prints the Secrets of the distributed form, new ones with every call, and nothing else:
#
#   secrets.sh 'postgres://keelson:PASSWORD@HOST/{service}' redis://HOST:6379 nats://HOST:4222 \
#     | kubectl create -n keelson -f -
#
# `{service}` stands for sys, pki, workspace, auth: each has a database of its own. Without arguments they are for
# the trial, whose PostgreSQL and Redis get a user and a password for each service. The services show NATS the nkey of these Secrets: a server of your
# own admits it with the lines of nats.conf in the Secret keelson-nats. `create`, because another internal CA or another key of
# the seal in a running installation would lock it out. unseal.key opens the seal: keep a copy of it, or
# leave it out and open the seal with key shares.
#
# KEELSON_TRUST_FOLDER names a folder whose sys/internal-ca.pem and sys/nats.nkey are those of the Secret keelson-sys: the
# Secrets are then of that installation, which `create` gives those that it lacks (docs/upgrades.md).
set -eu
cd "$(dirname "$0")/../.."
node=node_modules/node/bin/node

databases=${1:-}
redis=${2:-}
nats=${3:-nats://nats:4222}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ -z "${KEELSON_TRUST_FOLDER:-}" ] || cp -R "$KEELSON_TRUST_FOLDER/." "$folder"
"$node" --disable-sigusr1 libs/rpc/src/internal-issuer/main.ts "$folder" >/dev/null

encoded() { openssl base64 -A; }
secret() { # name, then one line `key: value in base64` each
  printf -- '---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: %s\ntype: Opaque\ndata:\n' "$1"
  shift
  printf '  %s\n' "$@"
}
text() { printf '%s: %s' "$1" "$(printf %s "$2" | encoded)"; }
file() { printf '%s: %s' "$2" "$(encoded <"$folder/$1/$2")"; }
# A user of the trial with the password in a file.
trial() { printf '%s:%s' "$1" "$(cat "$folder/$2")"; }
database() {
  if [ -n "$databases" ]; then text database-url "$(printf %s "$databases" | sed "s/{service}/$1/")"
  else text database-url "postgres://$(trial "$1" "postgres/$1")@postgres/$1"; fi
}
redis() {
  if [ -n "$redis" ]; then text redis-url "$redis"
  else text redis-url "redis://$(trial "$1" "$1/redis-password")@redis:6379"; fi
}

if [ -z "$databases" ]; then
  secret keelson-postgres "$(file postgres superuser)" "$(file postgres sys)" "$(file postgres pki)" \
    "$(file postgres workspace)" "$(file postgres auth)"
fi
[ -n "$redis" ] || secret keelson-redis "$(file redis users.acl)"
secret keelson-sys "$(database sys)" "$(redis sys)" "$(text nats-url "$nats")" \
  "$(file sys internal-ca.pem)" "$(file sys nats.nkey)" "$(text unseal.key "$(openssl rand -base64 32)")"
for service in pki auth; do
  secret "keelson-$service" "$(database "$service")" "$(redis "$service")" "$(text nats-url "$nats")" \
    "$(file "$service" internal-ca-certificate.pem)" "$(file "$service" join-token)" "$(file "$service" nats.nkey)"
done
secret keelson-workspace "$(database workspace)" "$(redis workspace)" "$(text nats-url "$nats")" \
  "$(file workspace internal-ca-certificate.pem)" "$(file workspace join-token)" "$(file workspace nats.nkey)" \
  "$(text bootstrap-token "$(openssl rand -hex 32)")" "$(text runner-token "$(openssl rand -hex 32)")"
secret keelson-gateway "$(redis gateway)" \
  "$(file gateway internal-ca-certificate.pem)" "$(file gateway join-token)"
secret keelson-nats "$(file nats nats.conf)"
