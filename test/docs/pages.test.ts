import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { leafCommands } from '../fixtures/all-commands.ts';
import { readDocument } from '../fixtures/markdown.ts';
import { brokenLinks, codesIn, documentsBelow, home, linesOf, sourcesBelow } from './documents.ts';

const documents = ['README.md', 'CONTRIBUTING.md', ...documentsBelow('docs')];
const isPage =
  /^(README|docs\/(operations|mappings|settings|command-line|first-mapping|security)|docs\/(operations|mappings)\/[\w-]+)\.md$/;
const pages = documents.filter((file) => isPage.test(file));

test.each(pages)('no line of prose in %s is longer than 140 characters', (file) => {
  const long = linesOf(readDocument(file), 'prose').filter(({ line }) => line.length > 140);
  expect(long).toEqual([]);
});

test.each(pages)('no table in %s is wider than 160 characters', (file) => {
  const wide = linesOf(readDocument(file), 'table').filter(({ line }) => line.length > 160);
  expect(wide).toEqual([]);
});

test.each(documents)('no table in %s has spaces that align its columns', (file) => {
  const padded = linesOf(readDocument(file), 'table').filter(({ line }) =>
    / {3}|[^|] {2}| {2}[^|]|-{4}/.test(line.replaceAll(/`[^`]*`/g, '`')),
  );
  expect(padded).toEqual([]);
});

test.each(['operations', 'mappings'])('docs/%s.md has a link to every page of its folder', (name) => {
  const index = readDocument(`docs/${name}.md`);
  const below = documentsBelow(`docs/${name}`);
  expect(below.length).toBeGreaterThan(10);
  for (const page of below) expect(index).toContain(`](${page.replace('docs/', '')})`);
});

test('an index names each page of operations by its title', () => {
  const index = readDocument('docs/operations.md');
  for (const page of documentsBelow('docs/operations')) {
    const [, title] = /^# (.+)\n/.exec(readDocument(page)) ?? [];
    expect(index).toContain(`- [${title}](${page.replace('docs/', '')})`);
  }
});

test.each(documents)('every link in %s leads somewhere', (file) => {
  expect(brokenLinks(file)).toEqual([]);
});

test('documents name only files that exist', () => {
  const named = documents.flatMap((document) =>
    [...readDocument(document).matchAll(/`((?:src|test|scripts|config|docs)\/[\w./-]+)`/g)].map(
      ([, file = '']) => `${document}: ${file}`,
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((text) => !existsSync(join(home, text.split(': ')[1] ?? '')))).toEqual([]);
});

test('sources, settings and deployments name only documents that exist', () => {
  const files = ['src', 'scripts', 'test'].flatMap(sourcesBelow);
  const others = ['compose.yaml', 'deploy/compose.replicas.yaml', 'deploy/helm/jetbridge/values.yaml'];
  const named = [...files, ...others, 'config/jetbridge.schema.json', 'CHANGELOG.md'].flatMap((file) =>
    [...readDocument(file).matchAll(/(?<![\w/.])docs\/[\w/-]+\.md/g)].map(([name]) => `${file}: ${name}`),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((text) => !existsSync(join(home, text.split(': ')[1] ?? '')))).toEqual([]);
});

test('texts and documents write a command as it is typed: npx jetbridge …', () => {
  const commands = leafCommands().map(({ path }) => path.split(' ')[0]);
  expect(commands).toContain('tokens');
  const bare = new RegExp(`(?<!npx )(?<![\\w./-])jetbridge (?:${commands.join('|')})\\b.*`, 'g');
  // It names the program that wrote a recording.
  const sources = sourcesBelow('src').filter((file) => file !== 'src/replay/recorded-session.ts');
  const found = [...documents, 'CHANGELOG.md', ...sources].flatMap((file) =>
    [...readDocument(file).matchAll(bare)].map(([text]) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});

test('docs/settings.md has every environment variable that a document names', () => {
  const settings = readDocument('docs/settings.md');
  const variables = documents.flatMap((file) =>
    codesIn(readDocument(file)).filter((code) => /^(JETBRIDGE|TLS|TRAVEL_API|DATABASE)_[A-Z_]+$/.test(code)),
  );
  expect(variables.length).toBeGreaterThan(20);
  for (const name of variables) expect(settings).toContain(`#### \`${name}\`\n`);
});
