# Creates the keys and passwords of docker-compose.yml that do not exist yet, and gives each container copies of those it
# needs. Every user in a container can read them, so each volume is mounted only where its files are needed.
set -eu
cd /run/secrets

# create FILE CONTENT: writes the file completely or not at all, and only if it does not exist
create() {
  [ -e "$1" ] && return
  printf '%s\n' "$2" >"$1.unfinished"
  chmod 0444 "$1.unfinished"
  mv "$1.unfinished" "$1"
  echo "created $1"
}
key() { head -c 32 /dev/urandom | base64; }
password() { head -c 24 /dev/urandom | base64 | tr '+/' '-_'; }

create ledger/password "$(password)"
create temporal/password "$(password)"
create service-database/password "$(password)"
create grafana/password "$(password)"
create service/service.key "$(key)"
create portal/database-url "postgres://tokenferry_portal:$(password)@ledger:5432/tokenferry"
create worker/master.key "$(key)"
create worker/payload.key "$(key)"

for each in codec people; do create "$each/payload.key" "$(cat worker/payload.key)"; done
for each in worker people; do
  create "$each/database-url" "postgres://tokenferry:$(cat ledger/password)@ledger:5432/tokenferry"
done
create service/database-url "postgres://service:$(cat service-database/password)@service-database:5432/service"
