import { client } from './client.mjs';
import { nextNumber } from './contenders.mjs';

/** As many keep-alive connections as an IdP with some parallel workers has. */
const CONNECTIONS = 10;

/**
 * Lets everybody play the operation in turn, round after round, so that what slows the machine down for a while slows all of
 * them; the round before the first is the warm-up. Answers for each round what each contender cost.
 */
export async function measure(contenders, { rounds, connections = CONNECTIONS }) {
  const all = [];
  for (let round = 0; round <= rounds; round += 1) {
    const costs = [];
    for (const contender of contenders) costs.push(await cost(contender, connections));
    if (round > 0) all.push(costs);
  }
  return all;
}

/** CPU of the server process per request, in microseconds, and requests per second. */
async function cost(contender, connections) {
  // Connections of its own: those of the last round were idle for longer than a server keeps them.
  const { send, close } = client(connections);
  const before = await contender.usage();
  const began = performance.now();
  await play(contender, send, connections).finally(close);
  const seconds = (performance.now() - began) / 1_000;
  const after = await contender.usage();
  const { who, size, amount } = contender;
  return { who, size, cpu: (after.cpu - before.cpu) / amount, perSecond: amount / seconds };
}

/** Each connection sends its next request when it has the answer to the last. */
async function play(contender, send, connections) {
  let left = contender.amount;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await exchange(contender, send, left === 0);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
}

/** Every status is looked at, and one body of each round. */
async function exchange({ who, ask, cast, base, token, status, isRight, mediaType }, send, isLooked) {
  const asked = ask(cast, nextNumber());
  const answer = await send(base, token, { ...asked, mediaType });
  const isAsExpected =
    answer.status === status &&
    !(isLooked && isRight && answer.text !== '' && !isRight(JSON.parse(answer.text), asked));
  if (isAsExpected) return;
  const said = `${answer.status} ${answer.text.slice(0, 300)}`;
  throw new Error(`${who} answered ${asked.method ?? 'GET'} ${asked.path} with ${said}`);
}
