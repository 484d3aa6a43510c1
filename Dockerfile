# The images of a deployment: worker, service, codec-server and cli. They share all layers but the last.
#
#   docker build --target worker --tag tokenferry-worker .
#   docker buildx build --platform linux/amd64,linux/arm64 --target worker --tag registry.example.com/tokenferry-worker .
#
# They run as an unprivileged user, and write nothing to their file system: run them with --read-only --tmpfs /tmp.

FROM docker.io/library/node:24.11.1-bookworm-slim AS node
WORKDIR /app
ENV NPM_CONFIG_AUDIT=false NPM_CONFIG_FUND=false NPM_CONFIG_UPDATE_NOTIFIER=false
COPY package.json package-lock.json ./

# The scripts of packages are not run, because none of them is needed.
FROM node AS build
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.mjs && find dist -name '*.map' -delete && rm -r dist/scripts dist/.built.json

FROM node AS packages
RUN npm ci --ignore-scripts --omit=dev --omit=optional
COPY scripts/prune-packages.mjs scripts/
RUN node scripts/prune-packages.mjs && rm -r scripts

FROM docker.io/library/debian:bookworm-20251117-slim AS base
# The certificates are for TLS to Temporal and to the service.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
  && groupadd --gid 10001 tokenferry \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin tokenferry \
  && install --directory --owner 10001 --group 10001 --mode 0700 /var/lib/tokenferry/vault-secrets
COPY --from=node /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=packages /app ./
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
ENV NODE_ENV=production TOKENFERRY_HOME=/tmp/tokenferry
USER 10001:10001

FROM base AS worker
# glibc's default of eight arenas for each core costs a worker 45 to 90 MB.
ENV MALLOC_ARENA_MAX=2 TOKENFERRY_VAULT_SECRETS=/var/lib/tokenferry/vault-secrets
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/worker/main.js"]

FROM base AS service
EXPOSE 8700
ENTRYPOINT ["node", "dist/stack/processes/service.js", "--host", "0.0.0.0"]

FROM base AS codec-server
EXPOSE 8234
ENTRYPOINT ["node", "dist/stack/processes/codec-server.js", "--host", "0.0.0.0"]

# `ferry up` does not work in this image, because it contains neither Postgres nor Temporal.
FROM base AS cli
WORKDIR /work
ENTRYPOINT ["node", "/app/bin/ferry.js"]
