# The image of the service: its bundle, the sources that it was made of, and the dependencies of production.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# npm rejects a lock file with a workspace whose manifest is not there.
COPY client/package.json client/
# No dependency needs a script of its own to be installed.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY bin bin
COPY gateway gateway
COPY src src
RUN node bin/build.js
# What is optional is for development: the bundler, the identity provider, and the download of MongoDB. npm's own record
# would be newer than the bundle, which then would count as old.
RUN npm prune --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && rm -r node_modules/@records-api node_modules/.package-lock.json

FROM node:24-bookworm-slim
ARG VERSION=1.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Records" \
      org.opencontainers.image.description="Contacts, sessions, transcripts and notes of an account, over REST, Connect, gRPC, gRPC-Web and MCP" \
      org.opencontainers.image.source="https://github.com/records-api/records" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Loopback, the default of both listeners, would be the container's own.
ENV NODE_ENV=production HOST=0.0.0.0 INTERNAL_HOST=0.0.0.0
# A container writes nothing where its program lies.
ENV NODE_DISABLE_COMPILE_CACHE=1
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY bin bin
COPY docs docs
COPY CHANGELOG.md SECURITY.md ./
COPY client/README.md client/
COPY deploy/README.md deploy/
COPY examples/README.md examples/
COPY gateway gateway
COPY src src
COPY deploy/container/healthcheck.js deploy/container/
# The user "node" of the base image, by number: Kubernetes cannot see from a name that it is not root.
USER 1000:1000
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "deploy/container/healthcheck.js"]
# Node itself is process 1 and gets SIGTERM: no shell and no npm stand in between.
CMD ["node", "bin/start.js"]
