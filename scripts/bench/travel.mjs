import { launch, script } from './program.mjs';

/**
 * Starts the travel API in memory, in a process of its own, with this number of travelers in each account and this delay of each
 * response in milliseconds. `calls` returns the number of calls of an account so far, by kind.
 */
export async function travelApi(place, { seed = 0, latencyMs = 0 }) {
  const program = launch(place, {
    words: [script('travel-api.mjs'), String(seed), String(latencyMs)],
    name: 'travel-api',
  });
  const port = await program.receive('port');
  return {
    url: `http://127.0.0.1:${port}`,
    usage: program.usage,
    calls: (key) => program.call({ calls: key }, 'calls'),
  };
}

/** Returns the calls per request between two counts, by kind, without the kinds that did not occur. */
export function callsPerRequest(before, after, requests) {
  const kinds = Object.keys(after).map((kind) => [kind, (after[kind] - (before[kind] ?? 0)) / requests]);
  return Object.fromEntries(kinds.filter(([, calls]) => calls > 0));
}
