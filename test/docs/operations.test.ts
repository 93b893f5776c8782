import { findingCodes } from '../../src/provisioning/people/people.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { readDocument } from '../fixtures/markdown.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import {
  codesIn,
  documentsBelow,
  findingCodesIn,
  itemsUnder,
  leadingCodes,
  sourcesBelow,
} from './documents.ts';

const statesAndFindings = readDocument('docs/operations/states-and-findings.md');

test('every finding is explained once, with a remedy', () => {
  const items = itemsUnder(statesAndFindings, 'Findings');
  const explained = items.flatMap(leadingCodes);
  expect(explained.filter((code, index) => explained.indexOf(code) !== index)).toEqual([]);
  const made = findingCodesIn('src/model', 'src/translator', 'src/provisioning', 'src/schema', 'src/scim');
  expect(made.filter((code) => !explained.includes(code))).toEqual([]);
  expect(made.toSorted()).toEqual([...findingCodes]);
  for (const item of items) expect(item).toMatch(/: .+ \*\*Remedy\*\*: ./);
});

test('every state is explained, with what to do', () => {
  const items = itemsUnder(statesAndFindings, 'States');
  expect(items.flatMap(leadingCodes)).toEqual(['synced', 'dirty', 'pending', 'refused', 'held']);
  for (const item of items) expect(item).toMatch(/: .+ \*\*What to do\*\*: ./);
});

describe('the log lines in the documents', () => {
  /** The literal texts of the sources. In templates, `…` stands for what is computed. */
  const texts = sourcesBelow('src')
    .filter((file) => !file.startsWith('src/admin/ui/'))
    .flatMap((file) => [...withoutComments(readDocument(file)).matchAll(/'((?:[^'\\\n]|\\.)*)'|`([^`]*)`/g)])
    .map(([, quoted, template = '']) => quoted ?? template.replace(/\$\{[^}]*\}/g, '…'));

  function withoutComments(source: string): string {
    return source.replace(/^\s*(\/\*\*|\*|\/\/).*$/gm, '');
  }

  /** True if the sources have the line. Its first part begins a text; a line without `…` is a whole one. */
  function isWritten(line: string): boolean {
    const [first = '', ...others] = line.split('…').map((part) => part.trim());
    const isBegun = texts.some((text) => (others.length > 0 ? text.startsWith(first) : text === first));
    return isBegun && others.every((part) => texts.some((text) => text.includes(part)));
  }

  test('are messages of the sources, where they are explained', () => {
    const shown = itemsUnder(readDocument('docs/operations/logs.md'), 'Lines of the log').flatMap(
      leadingCodes,
    );
    expect(shown.length).toBeGreaterThan(60);
    expect(shown.filter((line) => !isWritten(line))).toEqual([]);
  });

  test('are messages of the sources, where another page of operations quotes them', () => {
    const pages = documentsBelow('docs/operations').filter((file) => !file.endsWith('/logs.md'));
    const quotes = pages.flatMap((file) => [
      ...readDocument(file)
        .replaceAll(/\n */g, ' ')
        // The texts that follow the word: the log says `…`, logs `…` and `…`, the lines of the [log](logs.md) `…`.
        .matchAll(/\blogs?\b(?:\]\(logs\.md\))?[^.`]*((?:`[^`]+`(?:,| and|, and)? ?)+)/g),
    ]);
    const lines = quotes
      .flatMap(([, quoted = '']) => codesIn(quoted))
      .filter((code) => /^(?!npx )[a-z]+ [a-z]+ [a-z]/.test(code));
    expect(lines.length).toBeGreaterThan(8);
    expect(lines.filter((line) => !isWritten(line))).toEqual([]);
  });
});

test('every table of the database has its contents and how long they are kept', async () => {
  const place = temporaryFolder();
  const { db, close } = await openTestDatabase(place.path, false);
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  await close();
  place.remove();
  const items = itemsUnder(readDocument('docs/operations/stored-data.md'), 'Tables');
  for (const item of items) expect(item).toMatch(/: .+ \*\*Kept\*\*: ./);
  const explained = new Set(items.flatMap(leadingCodes));
  expect([...explained].toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
});
