import { historyOptions, isShrinking } from './from-environment.ts';
import { playHistory } from './runner.ts';
import { shrink } from './shrink.ts';

const tell = (line: string) => process.stdout.write(`${line}\n`);

describe.each(historyOptions())('seed $seed, $arrangement.travel', (options) => {
  it('ends as the IdP wants, whatever happened on the way', async () => {
    try {
      const figures = await playHistory(options);
      tell(JSON.stringify({ seed: options.seed, ...figures }));
    } catch (error) {
      if (isShrinking() && error instanceof Error) await shrink(options, error.message, tell);
      throw error;
    }
  }, 3_600_000);
});
