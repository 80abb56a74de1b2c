# The image of Tailrace; docs/deploying.md says how it is run. The last stage has what runs, and nothing that builds.

# The Node of package.json, which the tests run on. Debian with glibc: the engine's library is built for it alone.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Not `npm ci`: the lock file has the packages of one platform only (scripts/prepare.js). Versions are those of the lock file
# all the same. No package's own script is run: none is needed on this Node.
RUN npm install --no-save --no-audit --no-fund --ignore-scripts --loglevel=error
COPY . .
# What is packed is what package.json lists in `files`.
RUN npm pack --pack-destination /tmp --loglevel=error \
  && mkdir /package \
  && tar -xzf /tmp/tailrace-*.tgz -C /package --strip-components=1

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without the Node that comes with the packages: the image has it already.
RUN npm install --omit=dev --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM ${NODE_IMAGE}
# curl is for the healthcheck, and for a look at the service from inside.
RUN apt-get update \
  && apt-get install -y --no-install-recommends curl \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o 10001 -g 10001 /data \
  && ln -s /app/bin/tailrace.js /usr/local/bin/tailrace
WORKDIR /app
# The files belong to root, so that the service cannot change itself.
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /package ./
ENV NODE_ENV=production \
  TAILRACE_HOST=0.0.0.0 \
  TAILRACE_PORT=4000 \
  TAILRACE_DATA_DIR=/data
# A number, so that Kubernetes can see that it is not root.
USER 10001:10001
EXPOSE 4000
# By HTTPS where the service has a certificate, whose name need not be this address.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD curl -fsS -m 2 -o /dev/null "http://127.0.0.1:${TAILRACE_PORT}/ready" || curl -fsSk -m 2 -o /dev/null "https://127.0.0.1:${TAILRACE_PORT}/ready"
ENTRYPOINT ["node", "bin/tailrace.js"]
CMD ["serve"]
