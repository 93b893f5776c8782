# The base image of both stages. Operators can pin a digest: --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24-bookworm-slim

# Two stages: the first packs the npm package, the second holds its files and what it depends on, without build tools or tests.
FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# `npm pack` builds. The lock file, which is not packed, says which versions of the dependencies belong to it.
RUN mkdir /app && npm pack --pack-destination /tmp \
  && tar -xzf /tmp/jetbridge-*.tgz --strip-components=1 -C /app \
  && cp package-lock.json .npmrc /app/ && cd /app && npm ci --omit=dev

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 JETBRIDGE_DATA=/data
ENV npm_config_update_notifier=false
COPY --from=build /app /app
# Where npm links the programs of global packages: "npx jetbridge …" works in the container too, and writes no file.
RUN ln -s /app/dist/main.js /usr/local/bin/jetbridge && install -d -m 700 -o node -g node /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8080
# The certificate is for another name than 127.0.0.1: the probe asks whether we are there, not who we are.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch(`http${process.env.TLS_CERT ? 's' : ''}://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# No npm in between, so that SIGTERM reaches the process and it can finish what runs.
CMD ["jetbridge", "serve"]
