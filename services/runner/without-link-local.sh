#!/bin/sh
# The first program of the container in which runs have no sandbox, in compose. A network of Docker reaches the
# link-local addresses of clouds, which give credentials of the machine, and those of the machine itself. Here all of
# them are the container's own, at each interface, because a run may choose its interface and its address. The rights
# that this takes end before the runner starts.
# Usage: without-link-local.sh ARGUMENT_OF_NODE ...
set -eu
for interface in /sys/class/net/*; do
  [ ! -d "$interface" ] || ip route append local 169.254.0.0/16 dev "${interface##*/}" table local
done
ulimit -c 0
exec setpriv --bounding-set=-net_admin,-setpcap --inh-caps=-net_admin,-setpcap \
  /keelson/node_modules/node/bin/node --disable-sigusr1 "$@"
