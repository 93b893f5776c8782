import { findingCodes } from '../../src/provisioning/people/people.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { readDocument } from '../fixtures/markdown.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { findingCodesIn, itemsUnder, leadingCodes, sourcesBelow } from './documents.ts';

const statesAndFindings = readDocument('docs/operations/states-and-findings.md');

test('every finding is explained once, with a remedy', () => {
  const items = itemsUnder(statesAndFindings, 'Findings');
  const explained = items.flatMap(leadingCodes);
  expect(explained.filter((code, index) => explained.indexOf(code) !== index)).toEqual([]);
  const made = findingCodesIn('src/translator', 'src/provisioning', 'src/schema', 'src/scim');
  expect(made.filter((code) => !explained.includes(code))).toEqual([]);
  expect(made.toSorted()).toEqual([...findingCodes]);
  for (const item of items) expect(item).toMatch(/: .+ \*\*Remedy\*\*: ./);
});

test('every state is explained, with what to do', () => {
  const items = itemsUnder(statesAndFindings, 'States');
  expect(items.flatMap(leadingCodes)).toEqual(['synced', 'dirty', 'pending', 'refused', 'held']);
  for (const item of items) expect(item).toMatch(/: .+ \*\*What to do\*\*: ./);
});

test('every log line that is explained is written by the source', () => {
  const source = sourcesBelow('src').map(readDocument).join('\n');
  const shown = itemsUnder(readDocument('docs/operations/logs.md'), 'Lines of the log').flatMap(leadingCodes);
  expect(shown.length).toBeGreaterThan(40);
  const parts = shown.flatMap((line) => line.split('…').map((part) => part.trim()));
  expect(parts.filter((part) => !source.includes(part))).toEqual([]);
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
