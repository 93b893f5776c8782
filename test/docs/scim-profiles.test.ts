import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, tableRowsUnder } from '../fixtures/markdown.ts';
import { home } from './documents.ts';

/** A demand of a draft, and the tests that show what Jetbridge does about it. */
interface Row {
  demand: string;
  tests: { file: string; title: string }[];
}

const page = readDocument('docs/scim-profiles.md');

const rowsOf = (heading: string): Row[] =>
  tableRowsUnder(page, heading).map(([, demand = '', , tests = '']) => ({
    demand,
    tests: tests.split('<br>').flatMap((one) => {
      const [, file = '', title = ''] = /^\[[^\]]+\]\(\.\.\/(test\/[^)]+)\): (.+)$/.exec(one) ?? [];
      return one === '' ? [] : [{ file, title }];
    }),
  }));

const profiles = { 'SCIM interoperability profile': 24, 'IPSIE SCIM profile': 27 };

describe.each(Object.entries(profiles))('the table of the %s', (heading, count) => {
  const rows = rowsOf(heading);

  test('has every demand', () => {
    expect(rows).toHaveLength(count);
    expect(new Set(rows.map(({ demand }) => demand)).size).toBe(count);
  });

  test('names a test for each of them', () => {
    expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  test('names files and titles of tests that exist', () => {
    const missing = rows
      .flatMap(({ tests }) => tests)
      .filter(({ file, title }) => {
        if (!existsSync(join(home, file))) return true;
        const source = readDocument(file);
        return !["'", '"', '`'].some((quote) => source.includes(quote + title + quote));
      });
    expect(missing).toEqual([]);
  });
});
