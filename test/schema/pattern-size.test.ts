import fc from 'fast-check';
import { RE2JS } from 're2js';
import { patternSize } from '../../src/schema/pattern-size.ts';
import { runs } from '../fixtures/runs.ts';

test.each([
  ['', 3],
  ['abc', 6],
  ['[a-z]{3}', 10],
  ['(x{0,1000}){0,1}', 2009],
  ['\\p{L}', 24],
])('the size of %s is %d', (pattern, size) => {
  expect(patternSize(pattern)).toBe(size);
});

test('nested repetitions multiply, and nothing is expanded to find out', () => {
  expect(patternSize(`${'('.repeat(300)}x${'){1000}'.repeat(300)}`)).toBe(Infinity);
});

const part = fc.constantFrom(
  ...[
    'a',
    'é',
    '😀',
    '.',
    '^',
    '$',
    '\\d',
    '\\pL',
    '\\p{Han}',
    '\\PL',
    '[a-z]',
    '[^\\pL]',
    '[]]',
    '[[:alpha:]x]',
  ],
  ...[
    '\\Q(x){9}\\E',
    '\\x{1F600}',
    '\\x41',
    '[\\]a]',
    '\\(',
    '\\b',
    '{',
    '[a-z{3}]',
    '(?i)',
    '\\{9}',
    '}',
    '\\101',
  ],
);
const repetition = fc.constantFrom(
  '',
  '*',
  '+',
  '?',
  '*?',
  '{0}',
  '{3}',
  '{2,}',
  '{1,7}',
  '{0,20}',
  '{0,9}?',
);
const pattern = fc.letrec<{ all: string }>((tie) => ({
  all: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.tuple(part, repetition).map(([text, times]) => text + times),
    fc.tuple(tie('all'), tie('all')).map((both) => both.join('')),
    fc.tuple(tie('all'), tie('all')).map((both) => `(?:${both.join('|')})`),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?P<n>', '(?<m>', '(?i:'), tie('all'), repetition)
      .map(([begin, inner, times]) => `${begin}${inner})${times}`),
  ),
})).all;

test('the compiled size of a pattern is never larger than estimated', () => {
  fc.assert(
    fc.property(pattern, (text) => {
      const compiled = compile(text);
      fc.pre(compiled !== undefined);
      expect(compiled?.programSize()).toBeLessThanOrEqual(patternSize(text));
    }),
    runs(5_000),
  );
});

function compile(text: string): RE2JS | undefined {
  try {
    return RE2JS.compile(text);
  } catch {
    return undefined;
  }
}
