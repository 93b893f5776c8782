import { environmentSchema } from '../../src/config/environment.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { leafCommands } from '../fixtures/all-commands.ts';
import { fencedBlocks, readDocument, tableRowsUnder } from '../fixtures/markdown.ts';
import { codesIn, linesOf } from './documents.ts';

/** The README, and the page that continues its session; test/docs/readme.slow.test.ts runs their commands. */
const readme = readDocument('README.md');
const firstMapping = readDocument('docs/first-mapping.md');

test('the README has at most 15 KB', () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(15_360);
});

test('the README has no table that is wider than a screen', () => {
  expect(linesOf(readme, 'table').length).toBeGreaterThan(10);
  expect(linesOf(readme, 'table').filter(({ line }) => line.length > 120)).toEqual([]);
});

test('two commands run Jetbridge and test it', () => {
  const commands = fencedBlocks(readme).filter(({ text }) => text.includes('npm ci'));
  expect(commands.map(({ text }) => text)).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n']);
});

test('the README shows eight settings that exist, with their defaults', () => {
  const rows = tableRowsUnder(readme, 'Settings');
  expect(rows).toHaveLength(8);
  const variables: Record<string, { def: object }> = environmentSchema.shape;
  for (const [name = '', shown = ''] of rows) {
    const variable = variables[codesIn(name)[0] ?? ''];
    if (variable === undefined) throw new Error(`There is no variable ${name}.`);
    if ('defaultValue' in variable.def) expect(codesIn(shown)).toEqual([String(variable.def.defaultValue)]);
  }
});

test('the README shows eight commands that exist', () => {
  const rows = tableRowsUnder(readme, 'Commands');
  expect(rows).toHaveLength(8);
  const known = leafCommands().map(({ path }) => path);
  for (const [command = ''] of rows) expect(known).toContain(codesIn(command)[0]?.replace(/ [A-Z]+$/, ''));
});

test('the first mapping has no fault', () => {
  const [mapping] = fencedBlocks(firstMapping).filter(({ text }) => text.includes('scimUserMapping'));
  expect(parseMapping(JSON.parse(mapping?.text ?? ''))).toHaveProperty('mapping');
});
