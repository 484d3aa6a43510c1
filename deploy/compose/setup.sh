# Prepares Temporal and the ledger, and gives workers and people an API key of the service.
set -eu
ferry() { node /app/bin/ferry.js "$@"; }

attempts=0
until ferry setup; do
  attempts=$((attempts + 1))
  [ "$attempts" -lt 10 ] || exit 1
  sleep 3
done

if [ ! -e /run/secrets/worker/company-data.key ]; then
  unset DATABASE_URL_FILE
  DATABASE_URL=$(cat /run/secrets/service/database-url)
  export DATABASE_URL
  ferry service keys create --account Tokenferry --role administrator --quiet >/tmp/key
  for each in people worker; do
    cp /tmp/key "/run/secrets/$each/company-data.key.unfinished"
    chmod 0444 "/run/secrets/$each/company-data.key.unfinished"
    mv "/run/secrets/$each/company-data.key.unfinished" "/run/secrets/$each/company-data.key"
  done
  echo 'created an API key of the service'
fi
