#!/bin/sh
# Where no public image can be pulled: a Debian base made with debootstrap from the machine's own package
# mirror, and on it local images that answer to the same names and commands as the public ones that
# docker-compose.yml uses (postgres, redis, nats, haproxy). The base is made once.
set -eu
cd "$(dirname "$0")"
base=keelson-base:bookworm
# Tests that build at the same time build one after the other.
exec 9>"${TMPDIR:-/tmp}/keelson-stand-ins.lock"
flock 9

# An older base lacks packages added since.
if ! docker run --rm --entrypoint /usr/bin/ip "$base" -Version >/dev/null 2>&1; then
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m1 /debian)
  downloads=${XDG_CACHE_HOME:-$HOME/.cache}/keelson/debian-base
  mkdir -p "$downloads"
  debootstrap --variant=minbase --cache-dir="$downloads" \
    --include=ca-certificates,libstdc++6,redis-server,nats-server,postgresql-15,haproxy,curl,git,iproute2,openssh-client,procps,sudo \
    bookworm "$root/base" "$mirror" >"$root/log" 2>&1 || { tail -20 "$root/log" >&2; exit 1; }
  rm -rf "$root/base/var/cache/apt" "$root/base/var/lib/apt/lists" "$root/base/usr/share/doc"
  tar -C "$root/base" -c . | docker import - "$base" >/dev/null
fi
for name in postgres redis nats haproxy; do
  docker build --quiet --build-arg BASE_IMAGE="$base" --build-arg SERVER="$name" \
    -t "keelson-$name:stand-in" . >/dev/null
done
echo "$base keelson-postgres:stand-in keelson-redis:stand-in keelson-nats:stand-in keelson-haproxy:stand-in"
