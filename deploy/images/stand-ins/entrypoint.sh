#!/bin/sh
# Takes the commands that the public images take: `redis-server …`, arguments of nats-server and haproxy, and
# `postgres …` with POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE, and POSTGRES_DB. Other commands run as they are.
set -eu
case ${1:-} in sh | psql | redis-cli) exec "$@" ;; esac
case $SERVER in
  redis)
    chown redis /data
    # As in the public image: reached over a container network.
    exec setpriv --reuid=redis --regid=redis --clear-groups "$@" --protected-mode no
    ;;
  haproxy)
    exec haproxy -W -db -f /usr/local/etc/haproxy/haproxy.cfg "$@"
    ;;
  nats)
    exec nats-server "$@"
    ;;
  postgres)
    data=/var/lib/postgresql/data
    run() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
    if [ ! -s "$data/PG_VERSION" ]; then
      if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE"); fi
      export POSTGRES_PASSWORD
      run sh -c 'umask 077; printf %s "$POSTGRES_PASSWORD" > /tmp/password'
      run initdb -D "$data" -U postgres --auth-host=scram-sha-256 --pwfile=/tmp/password >/dev/null
      rm /tmp/password
      echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
      run pg_ctl -D "$data" -w -o '-c listen_addresses=' start >/dev/null
      run createdb -U postgres "${POSTGRES_DB:-postgres}" 2>/dev/null || true
      for script in /docker-entrypoint-initdb.d/*.sql; do
        [ -e "$script" ] && run psql -q -U postgres -f "$script"
      done
      run pg_ctl -D "$data" -w stop >/dev/null
    fi
    [ "$#" -gt 0 ] || set -- postgres
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@" -D "$data" -c listen_addresses='*'
    ;;
esac
