import { historyOptions, isShrinking } from './options.ts';
import { playHistory } from './play.ts';
import { shrink } from './shrink.ts';

const log = (line: string) => process.stdout.write(`${line}\n`);

describe.each(historyOptions())('seed $seed, $setup.travel', (options) => {
  it('ends in the state that the IdP wants, whatever happens on the way', async () => {
    try {
      const figures = await playHistory(options);
      log(JSON.stringify({ seed: options.seed, ...figures }));
    } catch (error) {
      if (isShrinking() && error instanceof Error) await shrink(options, error.message, log);
      throw error;
    }
  }, 3_600_000);
});
