import { cleanText, toLine, withVisibleCharacters } from '../../src/schema/clean-text.ts';
import { translate } from '../fixtures/translator.ts';

test.each([
  ['zero-width characters', 'A\u200b\u2060\ufeffda', 'Ada'],
  ['bidirectional marks, embeddings and isolates', '\u200e\u202aAda\u202c\u2066\u2069\u061c', 'Ada'],
  ['soft hyphens', 'Love\u00adlace', 'Lovelace'],
  ['joiners outside of the scripts that need them', 'A\u200cd\u200da', 'Ada'],
  ['spaces of other kinds', 'Ada\u00a0Maria\u3000L', 'Ada Maria L'],
  ['full-width digits', '０１２３４５６７８９', '0123456789'],
])('%s are cleaned', (_, text, clean) => {
  expect(cleanText(text)).toBe(clean);
});

test.each(['Ada Lovelace', 'علی\u200cرضा', 'क्\u200dष', 'Ångström', '山田 太郎', 'one\n\ttwo'])(
  '%j stays as it is',
  (text) => {
    expect(cleanText(text)).toBe(text);
  },
);

test('line breaks and tabs become one space', () => {
  expect(toLine('one \r\n\t two\u2028three  four')).toBe('one two three  four');
});

test('a finding shows the invisible characters of its value, wherever they are', () => {
  const user = { userName: 'ada', emails: [{ type: 'work', value: '\u200en/a\t\u00a0?' }] };
  const [finding] = translate(user, {}).findings;
  expect(finding).toMatchObject({ code: 'emailInvalid', value: '<U+200E>n/a<U+0009><U+00A0>?' });
  expect(withVisibleCharacters({ name: ['\u2066Standard'], level: 3 })).toEqual({
    name: ['<U+2066>Standard'],
    level: 3,
  });
});
