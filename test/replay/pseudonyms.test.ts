import fc from 'fast-check';
import { createPseudonyms, type PersonalText } from '../../src/replay/pseudonyms.ts';
import { runs } from '../fixtures/runs.ts';

const texts = (...values: string[]): PersonalText[] => values.map((text) => ({ text, kind: 'text' }));
const phones = (...values: string[]): PersonalText[] => values.map((text) => ({ text, kind: 'phone' }));

/** Replaces the texts of one recording, and returns the replacements in order. */
function replaceAll(originals: PersonalText[]): string[] {
  const replace = createPseudonyms(originals);
  return originals.map(({ text, kind }) => replace(text, kind));
}

/** The shape of a text: letters, digits and everything else. */
function shapeOf(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, 'guid')
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{Ll}/gu, 'a')
    .replace(/\p{Lo}/gu, 'x')
    .replace(/\p{Nd}/gu, '9');
}

const letters = 'abcdeéøžñABCÉØд山';
const word = fc.string({ unit: fc.constantFrom(...letters, ...'0189'), minLength: 1, maxLength: 8 });
const plainWord = fc.string({ unit: fc.constantFrom(...'abcdefKLM0123'), minLength: 1, maxLength: 8 });
const phrase = fc
  .array(fc.tuple(word, fc.constantFrom(' ', ', ', '-', "'", '_')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.flat().slice(0, -1).join(''));
const domain = fc
  .tuple(plainWord, fc.constantFrom('example', 'com', 'co.uk', 'fr'))
  .map((labels) => labels.join('.'));
const email = fc.tuple(plainWord, plainWord, domain).map(([one, two, at]) => `${one}.${two}@${at}`);
const phone = fc
  .tuple(
    fc.constantFrom('+33 6', '+1 (415) ', '06.', '0049151', '415-'),
    fc.integer({ min: 10_000, max: 9_999_999 }),
  )
  .map(([start, rest]) => `${start}${rest}`);
const date = fc
  .date({ min: new Date('1930-01-01'), max: new Date('2019-12-31'), noInvalidDate: true })
  .map((day) => day.toISOString().slice(0, 10));
const guid = fc.uuid();
const text = fc
  .oneof(phrase, email, date, guid)
  .map((value): PersonalText => ({ text: value, kind: 'text' }));
const personal = fc.oneof(
  text,
  phone.map((value): PersonalText => ({ text: value, kind: 'phone' })),
);
const recording = fc.uniqueArray(personal, {
  minLength: 1,
  maxLength: 40,
  selector: ({ text: value }) => value,
});

describe('pseudonyms of a recording', () => {
  test('a person is one person in every field, in any case and order', () => {
    const [given, family, display, email, capitals, reversed, address] = replaceAll(
      texts(
        'Olive',
        'Kent',
        'Olive Kent',
        'olive.kent@corp.example',
        'OLIVE.KENT@CORP.EXAMPLE',
        'Kent, Olive',
        'Corp',
      ),
    );
    expect(display).toBe(`${given} ${family}`);
    expect(reversed).toBe(`${family}, ${given}`);
    expect(email).toBe(`${given}.${family}@${address}.example`.toLowerCase());
    expect(capitals).toBe(email?.toUpperCase());
  });

  test('top-level domains that could reach somebody become example, and different domains stay different', () => {
    const [com, fr, uk, reserved, sub] = replaceAll(
      texts('a@corp.com', 'a@corp.fr', 'a@corp.co.uk', 'a@corp.test', 'a@mail.corp.com'),
    );
    for (const address of [com, fr, uk, sub]) expect(address).toMatch(/\.example$/);
    expect(reserved).toMatch(/^[a-z]@[a-z]{4}\.test$/);
    expect(uk).toMatch(/^[a-z]@[a-z]{4}\.[a-z]{2}\.example$/);
    expect(new Set([com, fr, uk, reserved, sub]).size).toBe(5);
    expect(sub?.split('.').slice(-2)).toEqual(com?.split('@')[1]?.split('.'));
  });

  test('a phone number keeps its country, area and form, and is the same number in any form', () => {
    const [international, national, dotted, uri] = replaceAll(
      phones('+33 6 12 34 56 78', '0612345678', '06.12.34.56.78', 'tel:+33-6-12345678;ext=77'),
    );
    expect(international).toMatch(/^\+33 6 1\d \d\d \d\d \d\d$/);
    const digits = international?.replace(/\D/g, '').slice(-9);
    expect(national).toBe(`0${digits}`);
    expect(dotted?.replaceAll('.', '')).toBe(national);
    expect(uri).toMatch(new RegExp(`^tel:\\+33-6-${digits?.slice(1)};ext=\\d\\d$`));
    expect(international).not.toContain('34 56 78');
  });

  test('a replaced number does not contain another number of the recording, however its digits are grouped', () => {
    const originals = phones('+33 610000', '+1 (415) 1000000', '+1 (415) 10016', '1415-100', '0033.610.0');
    const digitsOf = (number: string) => number.replace(/\D/g, '');
    for (const replaced of replaceAll(originals).map(digitsOf))
      for (const { text: original } of originals) expect(replaced).not.toContain(digitsOf(original));
  });

  test('what is no number in a field for numbers is replaced like any text', () => {
    const [prose, mixed] = replaceAll(phones('call the desk', 'home 415.555.2672'));
    expect(prose).toMatch(/^[a-z]{4} [a-z]{3} [a-z]{4}$/);
    expect(mixed).toMatch(/^[a-z]{4} \d{3}\.\d{3}\.\d{4}$/);
    expect(mixed).not.toMatch(/home|555|2672/);
  });

  test('a date stays a date in its format, with the time of day', () => {
    const [iso, french, time] = replaceAll(texts('1990-02-28', '28/02/1990', '2024-12-31T00:00:00.000Z'));
    expect(Date.parse(String(iso))).not.toBeNaN();
    const [year, month, day] = String(iso).split('-');
    expect(french).toBe(`${day}/${month}/${year}`);
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
    expect([iso, time]).not.toEqual(['1990-02-28', '2024-12-31T00:00:00.000Z']);
  });

  test('an object id keeps its form and its version, with and without hyphens', () => {
    const original = '6E7D1C2A-0F5B-4A51-9F4C-A0B1C2D3E4F5';
    const [guid, compact] = replaceAll(texts(original, original.replaceAll('-', '').toLowerCase()));
    expect(guid).toMatch(/^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-9[0-9A-F]{3}-[0-9A-F]{12}$/);
    expect(compact).toBe(guid?.replaceAll('-', '').toLowerCase());
    expect(guid).not.toBe(original);
  });

  test('an invented name is never the name of somebody else in the recording', () => {
    const originals = texts(
      'Anna',
      'Emil',
      'Hugo',
      'Iris',
      'Lars',
      'Mona',
      'Nina',
      'Otto',
      'Rosa',
      'Sven',
      'Tara',
    );
    const known = originals.map(({ text: name }) => name);
    for (const replaced of replaceAll(originals)) expect(known).not.toContain(replaced);
  });

  test('an invented word is no word of the recording, even if the recording has a third of all that could be invented', () => {
    const syllables = [...'bdfgklmnprstvz'].flatMap((one) => [...'aeiou'].map((two) => one + two));
    const names = syllables.slice(0, 40).flatMap((one) => syllables.map((two) => one + two));
    const originals = texts(...names.slice(0, 2_500));
    const known = new Set(originals.map(({ text: name }) => name));
    expect(replaceAll(originals).filter((replaced) => known.has(replaced))).toEqual([]);
    const [longer] = replaceAll(texts(...known, 'bababababababababa')).slice(-1);
    expect([...known].filter((name) => longer?.includes(name))).toEqual([]);
  });

  test('equal texts get equal replacements, different texts different ones', () => {
    fc.assert(
      fc.property(recording, (originals) => {
        const replaced = replaceAll(originals);
        expect(new Set(replaced).size).toBe(originals.length);
        const replace = createPseudonyms(originals);
        expect(originals.map(({ text: value, kind }) => replace(value, kind))).toEqual(replaced);
      }),
      runs(300),
    );
  });

  test('the shape of every text stays', () => {
    fc.assert(
      fc.property(recording, (originals) => {
        const expected = originals.map(({ text: value }) =>
          shapeOf(value.replace(/(@.*)\.(com|uk|fr)$/, '$1.example')),
        );
        expect(replaceAll(originals).map(shapeOf)).toEqual(expected);
      }),
      runs(300),
    );
  });

  test('no text of four or more characters survives, neither as a whole nor as a word of another', () => {
    fc.assert(
      fc.property(recording, (originals) => {
        const long = originals.map(({ text: value }) => value).filter((value) => value.length >= 4);
        const survivors = replaceAll(originals).flatMap((replaced) =>
          long.filter((value) => replaced.toLowerCase().includes(value.toLowerCase())),
        );
        expect(survivors).toEqual([]);
      }),
      runs(300),
    );
  });
});
