import { client } from './client.mjs';
import { nextNumber } from './contenders.mjs';

/** The number of keep-alive connections, as of an IdP with some parallel workers. */
const CONNECTIONS = 10;

/**
 * Measures the operation on each contender in turn, round after round, so that a temporary slowdown of the machine affects all of
 * them. A warm-up precedes the first round. Returns the costs of each contender in each round.
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

/** CPU of the server process per request, in microseconds, its statements or writes to the database per request, and requests per second. */
async function cost(contender, connections) {
  // The server has closed the connections of the last round, which were idle.
  const { send, close } = client(connections);
  const before = await contender.usage();
  const began = performance.now();
  await play(contender, send, connections).finally(close);
  const seconds = (performance.now() - began) / 1_000;
  const after = await contender.usage();
  const { who, size, amount } = contender;
  const perRequest = (figure) => (after[figure] - before[figure]) / amount;
  const [cpu, statements, sends] = ['cpu', 'statements', 'sends'].map(perRequest);
  return { who, size, cpu, statements, sends, perSecond: amount / seconds };
}

/** Each connection sends its next request after the response to its last one. */
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

/** Checks the status of every response, and the body of one response in each round. */
async function exchange(
  { who, requestOf, targets, base, token, status, isRight, mediaType },
  send,
  isBodyChecked,
) {
  const request = requestOf(targets, nextNumber());
  const answer = await send(base, token, { ...request, mediaType });
  const isAsExpected =
    answer.status === status &&
    !(isBodyChecked && isRight && answer.text !== '' && !isRight(JSON.parse(answer.text), request));
  if (isAsExpected) return;
  const said = `${answer.status} ${answer.text.slice(0, 300)}`;
  throw new Error(`${who} answered ${request.method ?? 'GET'} ${request.path} with ${said}`);
}
