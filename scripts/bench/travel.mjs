import { launch, script } from './program.mjs';

/**
 * Starts the travel API in memory, in a process of its own, with so many travelers in each account and so many milliseconds for
 * each answer. `calls` answers the calls of an account so far, by kind.
 */
export async function travelApi(place, { seed = 0, latencyMs = 0 }) {
  const program = launch(place, {
    words: [script('travel-api.mjs'), String(seed), String(latencyMs)],
    name: 'travel-api',
  });
  const port = await program.told('port');
  return {
    url: `http://127.0.0.1:${port}`,
    usage: program.usage,
    calls: (key) => program.ask({ calls: key }, 'calls'),
  };
}

/** The calls between two counts, per request, by kind; without the kinds that did not occur. */
export function callsPerRequest(before, after, requests) {
  const kinds = Object.keys(after).map((kind) => [kind, (after[kind] - (before[kind] ?? 0)) / requests]);
  return Object.fromEntries(kinds.filter(([, calls]) => calls > 0));
}
