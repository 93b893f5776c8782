// Writes docs/specification-coverage.md from the statements beside the tests. Fails when a statement has no test, or a
// test of a statement is not listed. With --check it only reports whether the page is up to date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';
import { table } from './markdown.mjs';

const root = join(fileURLToPath(import.meta.url), '../..');
const page = 'docs/specification-coverage.md';
const folder = 'test/travel/specification';
const faults = [];

const sections = filesIn(`${folder}/statements`, '.json').map((file) => JSON.parse(text(file)));
const rows = sections.map((section) => section.statements.map((one) => withTests(section, one)));
refuseUnlisted(rows.flat());

const written = `${pageText()}\n`;
if (faults.length > 0) {
  process.stderr.write(`${faults.join('\n')}\n`);
  process.exitCode = 1;
} else if (!process.argv.includes('--check')) {
  writeFileSync(join(root, page), written);
} else if (!existsSync(join(root, page)) || written !== text(page)) {
  process.stderr.write(`${page} is out of date: run "npm run docs" and commit it.\n`);
  process.exitCode = 1;
}

/** A statement with the tests that hold it: its own of the same title, or those it names. */
function withTests(section, one) {
  const cited = Object.entries(one.tests ?? { [section.test]: one.statement }).flatMap(([file, titles]) =>
    [titles].flat().map((title) => ({ file: file.includes('/') ? file : `${folder}/${file}`, title })),
  );
  const tests = cited.map((test) => {
    const file = holderOf(test);
    const found = titleIn(file, test.title) ?? missing(file, test.title);
    return { file, title: found, own: test.title === one.statement };
  });
  if (one.decision && !existsSync(join(root, one.where ?? ''))) {
    faults.push(`"${one.statement}": there is no ${one.where}.`);
  }
  return { ...one, tests };
}

/** The file of a test; where a folder is named, the one in it that has the title. */
function holderOf({ file, title }) {
  if (!file.endsWith('/')) return file;
  return filesIn(file.slice(0, -1), '.test.ts').find((one) => titlesOf(one).has(title)) ?? file;
}

/** The title as it stands in the file; rows of a table have the statement itself for a title. */
function titleIn(file, title) {
  const titles = titlesOf(file);
  if (titles.has(title)) return title;
  return titles.has('$statement') && title !== '$statement' && readsStatements(file, title)
    ? '$statement'
    : undefined;
}

/** True: the statement is a row of a section that the file runs through. */
function readsStatements(file, title) {
  return sections.some(
    ({ test, statements }) =>
      test === basename(file) &&
      statements.some(
        ({ statement, form, path, kinds }) => statement === title && (form ?? path ?? kinds) !== undefined,
      ),
  );
}

function missing(file, title) {
  faults.push(`${file} has no test "${title}".`);
  return title;
}

/** The titles of all tests of a file, as they are written. */
function titlesOf(file) {
  titlesOf.known ??= new Map();
  if (!titlesOf.known.has(file)) {
    const source = file.endsWith('.ts') && existsSync(join(root, file)) ? text(file) : '';
    titlesOf.known.set(file, new Set(calls(parseSync(source, { syntax: 'typescript' })).flatMap(titleOf)));
  }
  return titlesOf.known.get(file);
}

/** Every call in a tree. */
function calls(node) {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(calls);
  return node.type === 'CallExpression' ? [node, ...inner] : inner;
}

/** The title of a call of `test`, `it`, or what `.each(…)` of either answers. */
function titleOf({ callee, arguments: [first] }) {
  const called = callee.type === 'CallExpression' ? callee.callee : callee;
  const name = called.type === 'MemberExpression' ? called.object.value : called.value;
  if (!['test', 'it'].includes(name)) return [];
  const { type, value, quasis } = first?.expression ?? {};
  if (type === 'StringLiteral') return [value];
  return type === 'TemplateLiteral' && quasis.length === 1 ? [quasis[0].cooked] : [];
}

/** Reports tests of the specification that no statement names. */
function refuseUnlisted(all) {
  const listed = new Set(all.flatMap(({ tests }) => tests.map(({ file, title }) => `${file}: ${title}`)));
  for (const file of filesIn(folder, '.test.ts')) {
    for (const title of titlesOf(file)) {
      if (!listed.has(`${file}: ${title}`)) faults.push(`${file}: "${title}" is the test of no statement.`);
    }
  }
}

function pageText() {
  const count = rows.flat().length;
  const open = rows.flat().filter(({ decision }) => decision).length;
  return [
    '# Coverage of the travel specification',
    [
      `${count} statements, by section and in our own words. \`npm run docs\` generates this page from`,
      `\`${folder}/statements\`. A test fails if a statement has no test, if a test of the specification has no`,
      `statement, or if this page is out of date. For each of the ${open} statements that the specification leaves open`,
      'or that needed a decision, the last column gives the decision and the document that explains it.',
    ].join('\n'),
    [
      '- **not specified**: the specification does not define this.',
      '- **id form A** is 24 hexadecimal characters, **id form B** at most 50 characters (3.6, 3.7).',
      `- Tests are named by their files, without \`.test.ts\`; those without a folder are in \`${folder}\`. A file alone has a test whose title is`,
      '  the statement. **every row**: the test runs for each row of a table.',
      '- In titles, `%s` and `%j` are the parameters of a parameterized test. A title without a subject continues the name of its group.',
    ].join('\n'),
    ...sections.flatMap(sectionText),
  ].join('\n\n');
}

function sectionText({ section }, position) {
  const lines = rows[position].map(({ statement, tests, decision, where }, row) => [
    `${position + 1}.${row + 1}`,
    statement,
    tests.map((test) => testText(test, statement)).join('<br>'),
    decision ? `${decision} (${link(where)})` : '',
  ]);
  return [`## ${position + 1}. ${section}`, table(['', 'statement', 'test', 'decision'], lines)];
}

function testText({ file, title, own }, statement) {
  const name = (file.startsWith(`${folder}/`) ? basename(file) : file).replace(/\.test\.ts$/, '');
  if (own || title === statement) return name;
  return `${name}: ${title === '$statement' ? 'every row' : title}`;
}

/** A link to a document; decisions are named by their numbers. */
function link(where) {
  const to = where.startsWith('docs/') ? where.slice('docs/'.length) : `../${where}`;
  const name = basename(where, '.md');
  return `[${/^\d{4}(?=-)/.exec(name)?.[0] ?? name}](${to})`;
}

function filesIn(place, end) {
  return readdirSync(join(root, place))
    .filter((file) => file.endsWith(end))
    .sort()
    .map((file) => `${place}/${file}`);
}

function text(file) {
  return readFileSync(join(root, file), 'utf8');
}
