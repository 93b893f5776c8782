import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a text stands in the files of a database, the write-ahead log included: what is around it, by file. */
export function textsInFiles(data: string, marked: RegExp): string[] {
  return readdirSync(data)
    .filter((file) => file.startsWith('jetbridge.db'))
    .flatMap((file) => {
      const bytes = readFileSync(join(data, file)).toString('latin1');
      return [...bytes.matchAll(new RegExp(marked.source, 'gi'))].map(
        ({ index }) =>
          `${file}@${index}: ${bytes.slice(Math.max(0, index - 60), index + 60).replace(/[^ -~]/g, '·')}`,
      );
    });
}
