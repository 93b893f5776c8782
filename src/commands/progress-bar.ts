import { Presets, SingleBar } from 'cli-progress';

/** Shows, on standard error, how far the work on a connection is. */
export function startBar(connection: string, noun: string): SingleBar {
  const bar = new SingleBar(
    { format: `${connection} {bar} {value}/{total} ${noun}` },
    Presets.shades_classic,
  );
  bar.start(0, 0);
  return bar;
}
