import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, tableRowsUnder } from '../fixtures/markdown.ts';
import { brokenLinksIn, codesIn, home } from './documents.ts';

/** The requirements of levels 1 and 2 of OWASP ASVS 4.0.3: the numbers of each section. */
const sections = {
  '1.1': '1-7',
  '1.2': '1-4',
  '1.4': '1 4-5',
  '1.5': '1-4',
  '1.6': '1-4',
  '1.7': '1-2',
  '1.8': '1-2',
  '1.9': '1-2',
  '1.10': '1',
  '1.11': '1-2',
  '1.12': '2',
  '1.14': '1-6',
  '2.1': '1-12',
  '2.2': '1-3',
  '2.3': '1-3',
  '2.4': '1-5',
  '2.5': '1-7',
  '2.6': '1-3',
  '2.7': '1-6',
  '2.8': '1-7',
  '2.9': '1-3',
  '2.10': '1-4',
  '3.1': '1',
  '3.2': '1-4',
  '3.3': '1-4',
  '3.4': '1-5',
  '3.5': '1-3',
  '3.7': '1',
  '4.1': '1-3 5',
  '4.2': '1-2',
  '4.3': '1-3',
  '5.1': '1-5',
  '5.2': '1-8',
  '5.3': '1-10',
  '5.4': '1-3',
  '5.5': '1-4',
  '6.1': '1-3',
  '6.2': '1-6',
  '6.3': '1-2',
  '6.4': '1-2',
  '7.1': '1-4',
  '7.2': '1-2',
  '7.3': '1 3-4',
  '7.4': '1-3',
  '8.1': '1-4',
  '8.2': '1-3',
  '8.3': '1-8',
  '9.1': '1-3',
  '9.2': '1-4',
  '10.2': '1-2',
  '10.3': '1-3',
  '11.1': '1-8',
  '12.1': '1-3',
  '12.2': '1',
  '12.3': '1-6',
  '12.4': '1-2',
  '12.5': '1-2',
  '12.6': '1',
  '13.1': '1 3-5',
  '13.2': '1-3 5-6',
  '13.3': '1-2',
  '13.4': '1-2',
  '14.1': '1-4',
  '14.2': '1-6',
  '14.3': '2-3',
  '14.4': '1-7',
  '14.5': '1-4',
};

const requirements = Object.entries(sections).flatMap(([section, numbers]) =>
  numbers.split(' ').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => `${section}.${first + index}`);
  }),
);

/** A line of the page that `npm run asvs` prints: a requirement, or several, and how it is held. */
interface Line {
  numbers: string;
  requirement: string;
  /** The titles of tests by their files. */
  tests?: Record<string, string[]>;
  settings?: string[];
  shownBy?: string;
  notHeld?: string;
  notApplicable?: string;
}

const chapters: Record<string, Line[]> = JSON.parse(readDocument('test/docs/security-asvs.json'));
const lines = Object.values(chapters).flat();

test('every requirement of levels 1 and 2 is in the data once, in its chapter', () => {
  expect(requirements).toHaveLength(259);
  expect(lines.flatMap(({ numbers }) => numbers.split(', '))).toEqual(requirements);
  for (const [title, all] of Object.entries(chapters)) {
    const [chapter = ''] = /^\d+\./.exec(title) ?? ['?'];
    expect(all.filter(({ numbers }) => !numbers.startsWith(chapter))).toEqual([]);
  }
});

test('every line has a test, a setting or a reason', () => {
  for (const { numbers, requirement, ...proofs } of lines) {
    expect([numbers, requirement === '', Object.keys(proofs).length > 0]).toEqual([numbers, false, true]);
    const { tests: _, settings: __, ...reasons } = proofs;
    for (const text of Object.values(reasons))
      expect([numbers, text.trim().length > 10]).toEqual([numbers, true]);
  }
});

test('every test that is named exists, with its title', () => {
  const named = lines.flatMap(({ tests = {} }) => Object.entries(tests));
  expect(named.length).toBeGreaterThan(150);
  expect(named.filter(([file]) => !existsSync(join(home, file)))).toEqual([]);
  const missing = named.flatMap(([file, titles]) => {
    const source = readDocument(file);
    const isThere = (title: string) =>
      ["'", '"', '`'].some((quote) => source.includes(quote + title + quote));
    return titles.filter((title) => !isThere(title)).map((title) => `${file}: ${title}`);
  });
  expect(missing).toEqual([]);
});

test('every setting that is named exists', () => {
  const settings = readDocument('docs/settings.md');
  const named = lines.flatMap((line) => line.settings ?? []);
  expect(named.length).toBeGreaterThan(10);
  for (const name of named) expect(settings).toContain(`#### \`${name}\`\n`);
});

test('every document, heading and source that is named exists', () => {
  const texts = lines.flatMap(({ shownBy, notHeld, notApplicable }) => [shownBy, notHeld, notApplicable]);
  const text = texts.join('\n');
  expect(brokenLinksIn(text, '')).toEqual([]);
  const files = codesIn(text).filter((one) => /^(src|test|scripts|config|docs)\//.test(one));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !existsSync(join(home, file)))).toEqual([]);
});

test('npm run asvs prints every requirement, and what is not held in the overview', () => {
  const page = execFileSync(process.execPath, [join(home, 'scripts/asvs.mjs')], { encoding: 'utf8' });
  const printed = [...page.matchAll(/^- \*\*(\d[\d., ]*)\*\* /gm)].flatMap(([, numbers = '']) =>
    numbers.split(', '),
  );
  expect(printed).toEqual(requirements);
  const rows = tableRowsUnder(page, 'Overview');
  expect(rows.map(([title]) => title)).toEqual(Object.keys(chapters));
  const counted = rows.map(
    ([, held, notApplicable, notHeld = '']) =>
      Number(held) + Number(notApplicable) + notHeld.split(', ').filter(Boolean).length,
  );
  expect(counted.reduce((sum, count) => sum + count)).toBe(requirements.length);
  const notHeld = lines.flatMap((line) => (line.notHeld ? line.numbers.split(', ') : []));
  expect(rows.flatMap(([, , , numbers = '']) => numbers.split(', ').filter(Boolean))).toEqual(notHeld);
});
