# Creates Temporal's two databases, and brings their schemas up to date. Changes nothing that is up to date.
set -eu
SQL_PASSWORD=$(cat /run/secrets/password)
export SQL_PASSWORD

schema() {
  tool="temporal-sql-tool --plugin postgres12 --endpoint temporal-database --port 5432 --user temporal --database $1"
  $tool create-database --defaultdb postgres
  # Creates the table of versions. This fails if the table exists.
  $tool setup-schema --version 0.0 || true
  $tool update-schema --schema-name "postgresql/v12/$2"
}

schema temporal temporal
schema temporal_visibility visibility
