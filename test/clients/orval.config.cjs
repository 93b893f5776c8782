const input = 'openapi.json';

/** orval: a client on `fetch`, and schemas of zod for what it answers. */
module.exports = {
  fetch: { input, output: { target: 'orval/api.ts', client: 'fetch', baseUrl: process.env.TRAVEL_URL } },
  zod: { input, output: { target: 'orval/zod.ts', client: 'zod' } },
};
