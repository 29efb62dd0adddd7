#!/bin/sh
# Installs what the suite needs on a fresh Debian machine if run as root; otherwise names what is missing.
# `prepare.sh --check` only names it.
set -eu

# Programs that Debian lacks or has in too old a version: they are named, not installed.
# program:what it is
OUTSIDE_DEBIAN="go:Go_1.26_or_newer terraform:Terraform_1.11_or_newer kubectl:kubectl_1.30_or_newer"

# program:package
NEEDED="nats-server:nats-server redis-server:redis-server redis-sentinel:redis-sentinel initdb:postgresql
patroni:patroni etcd:etcd-server pgbouncer:pgbouncer haproxy:haproxy chromium-headless-shell:chromium-headless-shell promtool:prometheus
dockerd:docker.io docker-compose:docker-compose debootstrap:debootstrap mvn:maven javac:default-jdk-headless lego:lego certbot:certbot
dehydrated:dehydrated pebble:pebble cfssl:golang-cfssl openssl:openssl
systemd-notify:systemd python3:python3 pip3:python3-pip dpkg-deb:dpkg bwrap:bubblewrap unshare:util-linux flock:util-linux fuser:psmisc
slapd:slapd linux.uml:user-mode-linux
apache2:apache2-bin certtool:gnutls-bin keytool:default-jre-headless certutil:libnss3-tools curl:curl git:git cc:build-essential"

present() {
  command -v "$1" >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/"$1" >/dev/null 2>&1
}

absent=
for entry in $OUTSIDE_DEBIAN; do
  present "${entry%%:*}" || absent="$absent
  $(echo "${entry##*:}" | tr _ ' ')"
done
if [ -n "$absent" ]; then
  echo "The whole suite needs these programs in PATH, which are missing:$absent" >&2
  exit 1
fi

missing=
for entry in $NEEDED; do
  present "${entry%%:*}" || missing="$missing ${entry##*:}"
done
[ -n "$missing" ] || exit 0

if [ "${1:-}" = --check ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "The whole suite needs these Debian packages, which are missing:$missing" >&2
  exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# Services that packages would start are not wanted: the tests start their own on free ports.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -q >/dev/null
# Downloads are kept where the machine keeps caches, if it says where.
archives=/var/cache/apt/archives
if [ -n "${XDG_CACHE_HOME:-}" ]; then
  archives=$XDG_CACHE_HOME/keelson/debian
  mkdir -p "$archives/partial"
fi
# shellcheck disable=SC2086 # a list of packages
apt-get install -y -q --no-install-recommends -o Dir::Cache::archives="$archives" $missing >/dev/null
