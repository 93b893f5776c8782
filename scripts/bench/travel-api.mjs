// A travel API in memory, as a process of its own: node travel-api.mjs SEED LATENCY_MS. Each bearer token is an account of its
// own, with SEED travelers, or the number at the end of a token such as "scanned-seed20000"; each answer comes after LATENCY_MS, and none
// comes for the token "hanging". It counts the calls of each account.
import { createServer } from 'node:http';
import { answerCall } from './travel-accounts.mjs';

const [seed, latencyMs] = process.argv.slice(2).map(Number);
const accounts = new Map();

const server = createServer(async (request, response) => {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += chunk;
  const { authorization = '' } = request.headers;
  if (authorization === 'Bearer hanging') return;
  const { status, body } = answerCall(accountOf(authorization), request, text);
  const answer = () => {
    const json = JSON.stringify(body);
    response
      .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
      .end(json);
  };
  if (latencyMs === 0) answer();
  else setTimeout(answer, latencyMs);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

process.on('message', (message) => {
  if (message.calls === undefined) return;
  process.send({ calls: Object.fromEntries(accountOf(`Bearer ${message.calls}`).calls) });
});

function accountOf(authorization) {
  let account = accounts.get(authorization);
  if (!account) {
    account = { travelers: new Map(), byEmail: new Map(), order: [], calls: new Map() };
    accounts.set(authorization, account);
    const travelers = Number(/-seed(\d+)$/.exec(authorization)?.[1] ?? seed);
    for (let n = 0; n < travelers; n += 1)
      answerCall(account, { method: 'POST', url: '/api/users' }, JSON.stringify({ data: seeded(n) }));
    account.calls.clear();
  }
  return account;
}

function seeded(n) {
  return {
    email: `traveler${n}@example.com`,
    firstName: `Ada${n}`,
    lastName: 'Lovelace',
    lang: 'en',
    phoneNumber: '+33 612345678',
    address: { city: 'Paris', countryCode: 'FR', postalCode: '75002', streetAddress: `${n} rue de la Paix` },
  };
}
