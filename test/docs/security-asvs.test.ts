import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, tableRowsUnder } from '../fixtures/markdown.ts';
import { codesIn, home } from './documents.ts';

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

const page = readDocument('docs/security-asvs.md');

/** The lines of the page: their numbers, and what follows each label. */
const lines = [...page.matchAll(/^- \*\*(\d[\d., ]*)\*\* (.*(?:\n {2}\S.*)*)/gm)].map(
  ([, numbers = '', wrapped = '']) => {
    const [, ...labelled] = wrapped
      .replaceAll(/\n +/g, ' ')
      .split(/\*\*(Test|Setting|Shown by|Not held|Not applicable)\*\*: /);
    const parts = Array.from({ length: labelled.length / 2 }, (_, index) => ({
      label: labelled[2 * index] ?? '',
      text: labelled[2 * index + 1] ?? '',
    }));
    return { numbers: numbers.split(', '), parts };
  },
);

const textsOf = (wanted: string) =>
  lines.flatMap(({ parts }) => parts.filter(({ label }) => label === wanted).map(({ text }) => text));

test('every requirement of levels 1 and 2 is on the page once', () => {
  expect(requirements).toHaveLength(259);
  expect(lines.flatMap(({ numbers }) => numbers)).toEqual(requirements);
});

test('every line has a test, a setting or a reason', () => {
  for (const { numbers, parts } of lines) {
    expect([numbers, parts.length]).not.toEqual([numbers, 0]);
    for (const { text } of parts) expect([numbers, text.trim().length > 10]).toEqual([numbers, true]);
  }
});

test('every test that the page names exists, with its title', () => {
  const named = textsOf('Test').flatMap((text) =>
    [...text.matchAll(/`([^`]+)`((?:,? "[^"]+")+)/g)].map(([, file = '', titles = '']) => ({
      file,
      titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
    })),
  );
  expect(named.length).toBeGreaterThan(150);
  expect(named.map(({ file }) => file)).toEqual(textsOf('Test').flatMap(codesIn));
  expect(named.filter(({ file }) => !existsSync(join(home, file)))).toEqual([]);
  const missing = named.flatMap(({ file, titles }) => {
    const source = readDocument(file);
    const isThere = (title: string) =>
      ["'", '"', '`'].some((quote) => source.includes(quote + title + quote));
    return titles.filter((title) => !isThere(title)).map((title) => `${file}: ${title}`);
  });
  expect(missing).toEqual([]);
});

test('every setting that the page names exists', () => {
  const settings = readDocument('docs/settings.md');
  const named = textsOf('Setting').flatMap(codesIn);
  expect(named.length).toBeGreaterThan(10);
  for (const name of named) expect(settings).toContain(`#### \`${name}\`\n`);
});

test('the overview counts the lines of each chapter', () => {
  const countsOf = (chapter: string) => {
    const ofChapter = lines.filter(({ numbers: [first = ''] }) => first.startsWith(chapter));
    const has = (label: string) => ofChapter.filter(({ parts }) => parts.some((one) => one.label === label));
    const notHeld = has('Not held').flatMap(({ numbers }) => numbers);
    const notApplicable = has('Not applicable').flatMap(({ numbers }) => numbers).length;
    const all = ofChapter.flatMap(({ numbers }) => numbers).length;
    return [String(all - notHeld.length - notApplicable), String(notApplicable), notHeld.join(', ')];
  };
  const rows = tableRowsUnder(page, 'Overview');
  expect(rows).toHaveLength(14);
  for (const [title = '', ...counts] of rows) {
    const [chapter = ''] = /^\d+\./.exec(title) ?? [];
    expect([title, ...counts]).toEqual([title, ...countsOf(chapter)]);
  }
});
