#!/bin/sh
# Makes the secrets of compose.yaml, each once: .env, and secrets/ with what is mounted as a file. Run it before `up`.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

# containers run as users of their own: files must be readable for them, the folder is for you alone
put() {
  [ -e "secrets/$1" ] || cat >"secrets/$1"
  chmod 0444 "secrets/$1"
}

if [ ! -e .env ]; then
  cat >.env <<END
CLICKHOUSE_PASSWORD=$(random)
GRAFANA_READER_PASSWORD=$(random)
GRAFANA_ADMIN_PASSWORD=$(random)
TOOLSELECT_SEND_TOKEN=$(random)
END
fi
. ./.env

[ -e secrets/prometheus.token ] || random | put prometheus.token
put tokens.toml <<END
[[token]]
name = "collector"
token = "$TOOLSELECT_SEND_TOKEN"

[[token]]
name = "prometheus"
token = "$(cat secrets/prometheus.token)"
scopes = ["read"]
END
echo "secrets are in $(pwd)/.env and $(pwd)/secrets; Grafana's password is GRAFANA_ADMIN_PASSWORD"
