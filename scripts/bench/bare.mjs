// The reference of the ratios: one express app for each exchange of the file. Its one route parses the JSON body, if there is one,
// and returns the JSON that the service returned. node bare.mjs FILE
import { readFileSync } from 'node:fs';
import express from 'express';

const exchanges = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const ports = {};
for (const exchange of exchanges) {
  const server = bareApp(exchange).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  ports[exchange.name] = server.address().port;
}
process.send({ ports });

function bareApp({ method, route, status, json }) {
  const app = express();
  // Express would hash each response for an ETag. Jetbridge has versions of its own, which cost less.
  app.disable('etag');
  app.disable('x-powered-by');
  const answer = (_request, response) => {
    if (json === undefined) response.status(status).end();
    else response.status(status).type('application/scim+json').json(json);
  };
  const path = `/scim/v2${route}`;
  if (method === 'GET') app.get(path, answer);
  else app[method.toLowerCase()](path, express.json({ type: 'application/scim+json' }), answer);
  return app;
}
