import { base, en, Faker } from '@faker-js/faker';
import fc from 'fast-check';
import { createPseudonyms } from '../../src/replay/pseudonyms.ts';
import { runs } from '../fixtures/runs.ts';

/** Replaces the texts of one recording, and returns the replacements in order. */
function replaceAll(...originals: string[]): string[] {
  return originals.map(createPseudonyms(new Faker({ locale: [en, base], seed: 1 }), originals));
}

const letters = 'abcdeéøžñABCÉØд山';
const word = fc.string({ unit: fc.constantFrom(...letters, ...'0189'), minLength: 1, maxLength: 8 });
const plainWord = fc.string({ unit: fc.constantFrom(...'abcdefKLM0123'), minLength: 1, maxLength: 8 });
const phrase = fc
  .array(fc.tuple(word, fc.constantFrom(' ', ', ', '-', "'", '_')), { minLength: 1, maxLength: 4 })
  .map((pairs) => pairs.flat().slice(0, -1).join(''));
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
const recording = fc.uniqueArray(fc.oneof(phrase, email, date, fc.uuid(), phone), {
  minLength: 1,
  maxLength: 40,
});

describe('pseudonyms of a recording', () => {
  test('a person is one person in every field, in any case and order', () => {
    const [given = '', family = '', display, address, capitals, reversed] = replaceAll(
      'Olive',
      'Kent',
      'Olive Kent',
      'olive.kent@corp.example',
      'OLIVE.KENT@CORP.EXAMPLE',
      'Kent, Olive',
    );
    expect(display).toBe(`${given} ${family}`);
    expect(reversed).toBe(`${family}, ${given}`);
    expect(address).toMatch(new RegExp(`^${given}\\.${family}@[a-z]+\\.example$`.toLowerCase()));
    expect(capitals).toBe(address?.toUpperCase());
  });

  test('domains could reach nobody, and different domains stay different', () => {
    const addresses = replaceAll('a@corp.com', 'a@corp.fr', 'a@corp.co.uk', 'a@corp.test', 'a@mail.corp.com');
    for (const address of addresses) expect(address).toMatch(/^[a-z]+@[a-z]+\.example$/);
    expect(new Set(addresses).size).toBe(5);
  });

  test('a phone number keeps its country, area and form, and is the same number in any form', () => {
    const [international, national, dotted, uri] = replaceAll(
      '+33 6 12 34 56 78',
      '0612345678',
      '06.12.34.56.78',
      'tel:+33-6-12345678;x=77',
    );
    expect(international).toMatch(/^\+33 6 1\d \d\d \d\d \d\d$/);
    const digits = international?.replace(/\D/g, '').slice(-9);
    expect(national).toBe(`0${digits}`);
    expect(dotted?.replaceAll('.', '')).toBe(national);
    expect(uri).toMatch(new RegExp(`^tel:\\+33-6-${digits?.slice(1)};[a-z]+=\\d\\d$`));
    expect(international).not.toContain('34 56 78');
  });

  test('an employee number keeps its zeros in front', () => {
    const [padded = '', plain] = replaceAll('0071042', '71042');
    expect(padded).toMatch(/^00\d{5}$/);
    expect(padded.slice(2)).toBe(plain);
    expect(plain).not.toBe('71042');
  });

  test('a date stays a date in its format, with the time of day', () => {
    const [iso, french, time] = replaceAll('1990-02-28', '28/02/1990', '2024-12-31T00:00:00.000Z');
    expect(Date.parse(String(iso))).not.toBeNaN();
    expect(french).toMatch(/^(0\d|1[0-2])\/(0\d|1[0-2])\/\d{4}$/);
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
    expect([iso, time]).not.toEqual(['1990-02-28', '2024-12-31T00:00:00.000Z']);
  });

  test('an object id keeps its form, with and without hyphens', () => {
    const original = '6E7D1C2A-0F5B-4A51-9F4C-A0B1C2D3E4F5';
    const [guid, compact] = replaceAll(original, original.replaceAll('-', '').toLowerCase());
    expect(guid).toMatch(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/);
    expect(compact).toBe(guid?.replaceAll('-', '').toLowerCase());
    expect(guid).not.toBe(original);
  });

  test('no part of an object id is a part of another one of the recording', () => {
    const parts = Array.from({ length: 500 }, (_, at) => (0x8000 + at).toString(16));
    const replaced = replaceAll(...parts.map((part) => `1b4e28ba-2fa1-41d2-${part}-b9a7635a2c11`));
    const words = replaced.flatMap((id) => id.split('-'));
    expect(words.filter((word) => parts.includes(word))).toEqual([]);
  });

  test('equal texts get equal replacements, and texts that differ by more than form get different ones', () => {
    // Case of single letters, scripts and the form of a number are not kept.
    const distinct = (text: string) =>
      text
        .normalize('NFC')
        .toLowerCase()
        .replace(/[\s+().-]/g, '');
    const distinctRecording = fc.uniqueArray(fc.oneof(email, date, fc.uuid()), {
      maxLength: 40,
      selector: distinct,
    });
    fc.assert(
      fc.property(distinctRecording, (originals) => {
        const replaced = replaceAll(...originals);
        expect(new Set(replaced).size).toBe(originals.length);
        expect(replaceAll(...originals)).toEqual(replaced);
      }),
      runs(200),
    );
  });

  test('no text of four or more characters survives, neither as a whole nor as a word of another', () => {
    fc.assert(
      fc.property(recording, (originals) => {
        const long = originals.filter((value) => value.length >= 4 && /[\p{L}\p{N}]{2}/u.test(value));
        const wordsIn = (text: string) => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]{4,}/gu) ?? [];
        const words = new Set(originals.flatMap(wordsIn));
        for (const [index, replaced] of replaceAll(...originals).entries()) {
          if (long.includes(originals[index] ?? '')) expect(replaced).not.toBe(originals[index]);
          expect(wordsIn(replaced).filter((one) => one !== 'example' && words.has(one))).toEqual([]);
        }
      }),
      runs(200),
    );
  });
});
