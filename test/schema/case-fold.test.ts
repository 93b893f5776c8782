import fc from 'fast-check';
import { foldCase } from '../../src/schema/case-fold.ts';
import { filterTest } from '../../src/schema/filter-match.ts';
import { parseFilter } from '../../src/schema/filter-parser.ts';
import { userType } from '../../src/schema/resource-types.ts';
import { runs } from '../fixtures/runs.ts';
import { anyCharacter, areSameWithoutCase, specialWord, wordPairs } from '../fixtures/unicode.ts';

test.each([
  ['ADA@Corp.Example', 'ada@corp.example'],
  ['E\u0301va', 'éva'],
  ['\u212b', 'å'],
  ['\u212a', 'k'],
  // The lower case of the capital I with a dot is i and a combining dot, not the letter i.
  ['İ', 'i\u0307'],
  ['ẞ', 'ß'],
  // The last sigma of a word has its own lower-case form.
  ['ΟΔΟΣ@x', 'οδος@x'],
  ['ΟΔΟΣΑ@x', 'οδοσα@x'],
  // Lower-casing does not compose, so the result is not NFC.
  ['J\u030c', 'j\u030c'],
])('%s is folded to %s', (text, folded) => {
  expect(foldCase(text)).toBe(folded);
});

test.each([
  ['ﬁona@corp.example', 'fiona@corp.example'],
  ['ＡＤＡ', 'ada'],
  ['m²', 'm2'],
  ['straße', 'strasse'],
  ['σ', 'ς'],
  ['ı', 'i'],
])('%s and %s stay different', (first, second) => {
  expect(foldCase(first)).not.toBe(foldCase(second));
});

test('two texts fold to the same form exactly if their NFC in lower case is the same', () => {
  fc.assert(
    fc.property(wordPairs, ([first, second]) => {
      expect(foldCase(first) === foldCase(second)).toBe(areSameWithoutCase(first, second));
    }),
    runs(2_000),
  );
});

test('composed and decomposed forms of a text fold to the same', () => {
  fc.assert(
    fc.property(fc.oneof(specialWord, fc.string({ unit: anyCharacter })), (text) => {
      expect(foldCase(text.normalize('NFD'))).toBe(foldCase(text.normalize('NFC')));
    }),
    runs(2_000),
  );
});

describe('a run of combining marks longer than in any language is folded in parts of 64 (UAX #15 §13)', () => {
  // Normalizing sorts the marks of a run, which takes time that grows with the square of its length.
  const [above, below] = ['\u0301', '\u0316'];
  test.each([
    ['of one kind', above.repeat(1000)],
    ['of two kinds, one after the other', `${above.repeat(500)}${below.repeat(500)}`],
    ['of alternating kinds', `${above}${below}`.repeat(500)],
    ['of two code units each', '\u{1e000}'.repeat(1000)],
  ])('%s', (_title, marks) => {
    const runs = foldCase(`A${marks}B`).match(/(?:(?!\u034f)\p{M})+/gu) ?? [];
    expect(runs.length).toBeGreaterThanOrEqual(1000 / 64 - 1);
    for (const run of runs) expect([...run].length).toBeLessThanOrEqual(64);
  });

  test('a run of 64 marks is folded as a whole', () => {
    const word = `Q${above.repeat(32)}${below.repeat(32)}`;
    expect(foldCase(word)).toBe(word.normalize('NFC').toLowerCase());
    expect(foldCase(`${'x'.repeat(1000)}${word}`)).toBe(`${'x'.repeat(1000)}${foldCase(word)}`);
  });
});

test.each([
  ['userName', 'userName'],
  ['emails', 'emails.value'],
])('a filter on %s compares folded texts', (attribute, path) => {
  fc.assert(
    fc.property(wordPairs, ([first, second]) => {
      const filter = parseFilter(`${path} eq ${JSON.stringify(second)}`);
      if ('fault' in filter) throw new Error(filter.fault);
      const user = attribute === 'userName' ? { userName: first } : { emails: [{ value: first }] };
      expect(filterTest(userType, filter)(user)).toBe(areSameWithoutCase(first, second));
    }),
    runs(500),
  );
});
