#!/bin/sh
# Builds the Keelson image: build.sh [TAG [OPTION OF docker build ...]]. BASE_IMAGE overrides the base (any
# glibc image with libstdc++, CA certificates, and `ip` or apt).
set -eu
cd "$(dirname "$0")/../.."
tag=${1:-keelson:dev}
[ "$#" -eq 0 ] || shift
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

git ls-files -z --cached --others --exclude-standard -- package.json package-lock.json libs services proto deploy/agent deploy/policy-service deploy/demo-replication \
  | grep -zvE '\.test\.ts$|/testdata/|^libs/testkit/src/|^libs/testcontainers/|^services/console/' \
  | xargs -0 cp --parents -t "$context"
# Modules that the demo shares with the tests; neither starts a process.
cp --parents -t "$context" libs/testkit/src/addressed-cluster.ts libs/testkit/src/fault-proxy.ts
# Only the built pages of the console: the image has no packages to build them.
make --silent console
cp -r --parents -t "$context" services/console/dist
(
  cd "$context"
  npm install --no-save --omit=dev --no-audit --no-fund --loglevel=error
  # Only compilers, debuggers, the tests of packages and another runtime (Bare) read these: a third of the bytes. Node
  # runs no TypeScript of packages.
  find node_modules \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.test.*' -o -name '*.bare' \) -type f -delete
  # Tests of packages, and builds for browsers of the largest one.
  find node_modules -maxdepth 3 -type d -name test -exec rm -rf {} +
  rm -rf node_modules/openpgp/dist/lightweight node_modules/openpgp/dist/openpgp.*
  # Pages for those who choose a package; licences stay.
  find node_modules -name '*.md' ! -iname 'licen[cs]e*' -type f -delete
)
docker build --quiet ${BASE_IMAGE:+--build-arg BASE_IMAGE="$BASE_IMAGE"} "$@" \
  -t "$tag" -f deploy/images/Dockerfile "$context"
