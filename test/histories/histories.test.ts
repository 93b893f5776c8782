import { historyOptions } from './from-environment.ts';
import { playHistory } from './runner.ts';

describe.each(historyOptions())('seed $seed, $arrangement.travel', (options) => {
  it('ends as the IdP wants, whatever happened on the way', async () => {
    const figures = await playHistory(options);
    process.stdout.write(`${JSON.stringify({ seed: options.seed, ...figures })}\n`);
  }, 3_600_000);
});
