#!/bin/sh
# Makes a Docker engine available to the container tests: uses the running one, else starts dockerd as
# root. Runs of the suite share an engine; the last of them to end stops the one that a run has started.
# Usage: docker.sh COMMAND [ARG ...]
set -eu

answers() { docker info >/dev/null 2>&1; }
if [ "$(id -u)" != 0 ]; then
  answers && exec "$@"
  echo "no Docker engine answers and dockerd can only be started as root" >&2
  exit 1
fi
folder=${KEELSON_DOCKER_RUN_FOLDER:-/run/keelson-suite}
mkdir -p "$folder"
pid_file=$folder/dockerd.pid
# 8: held while an engine is started or stopped. 9: held in common by every run. What is started here
# holds neither.
exec 8>"$folder/start.lock" 9>"$folder/runs.lock"

start() {
  dockerd 8>&- 9>&- >"$folder/dockerd.log" 2>&1 &
  engine=$!
  echo "$engine" >"$pid_file"
  tries=0
  until answers; do
    tries=$((tries + 1))
    if [ "$tries" -gt 120 ] || ! kill -0 "$engine" 2>/dev/null; then
      echo "dockerd did not start:" >&2
      tail -5 "$folder/dockerd.log" >&2
      exit 1
    fi
    sleep 0.5
  done
}

state_of() { cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null; }

leave() {
  flock 8
  if flock --nonblock 9 && [ -s "$pid_file" ]; then
    engine=$(cat "$pid_file")
    rm "$pid_file"
    if [ "$(cat "/proc/$engine/comm" 2>/dev/null)" = dockerd ]; then
      kill "$engine"
      until [ -z "$(state_of "$engine")" ] || [ "$(state_of "$engine")" = Z ]; do sleep 0.2; done
    fi
  fi
}

flock 8
flock --shared 9
trap leave EXIT
trap 'exit 130' INT TERM
answers || start
flock --unlock 8
status=0
"$@" 8>&- 9>&- || status=$?
exit "$status"
