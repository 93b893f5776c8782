# The base image of both stages. Operators can pin a digest: --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24-bookworm-slim

# Two stages: the first compiles, the second holds what runs, without compiler, tests or development packages.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json tsconfig.commonjs.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 JETBRIDGE_DATA=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config ./config
COPY demo ./demo
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# The certificate is for another name than 127.0.0.1: the probe asks whether we are there, not who we are.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch(`http${process.env.TLS_CERT ? 's' : ''}://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# No npm in between, so that SIGTERM reaches the process and it can finish what runs.
CMD ["node", "dist/main.js", "serve"]
