#!/bin/sh
# Makes a Docker engine available to the container tests: uses the running one, else starts dockerd as
# root and stops it again when the given command ends. Usage: docker.sh COMMAND [ARG ...]
set -eu

if docker info >/dev/null 2>&1; then
  exec "$@"
fi
if [ "$(id -u)" != 0 ]; then
  echo "no Docker engine answers and dockerd can only be started as root" >&2
  exit 1
fi
log=$(mktemp)
dockerd >"$log" 2>&1 &
engine=$!
trap 'kill "$engine" 2>/dev/null; wait "$engine" 2>/dev/null || true; rm -f "$log"' EXIT INT TERM
tries=0
until docker info >/dev/null 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -gt 120 ] || ! kill -0 "$engine" 2>/dev/null; then
    echo "dockerd did not start:" >&2
    tail -5 "$log" >&2
    exit 1
  fi
  sleep 0.5
done
status=0
"$@" || status=$?
exit "$status"
