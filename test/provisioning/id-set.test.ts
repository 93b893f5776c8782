import fc from 'fast-check';
import { IdSet } from '../../src/provisioning/id-set.ts';

const nil = '00000000-0000-0000-0000-000000000000';

/** UUIDs with few different values in each part, so that many are equal or almost equal. */
const similarUuid = fc
  .array(fc.constantFrom('0000', '0001', '8000', 'ffff'), { minLength: 8, maxLength: 8 })
  .map(([a, b, c, d, e, f, g, h]) => `${a}${b}-${c}-${d}-${e}-${f}${g}${h}`);

const id = fc.oneof(
  similarUuid,
  fc.uuid(),
  fc.uuid().map((uuid) => uuid.toUpperCase()),
  fc.constant(nil),
  fc.constantFrom('', 'ada@example.com', 'ADA@example.com', `${nil}0`, `x${nil}`),
);

describe('IdSet', () => {
  it('contains what was added to it, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 300 }), fc.array(id), (added, others) => {
        const set = new IdSet();
        const expected = new Set<string>();
        for (const one of added) {
          set.add(one);
          expected.add(one);
          expect(set.size).toBe(expected.size);
        }
        for (const one of [...added, ...others]) expect(set.has(one)).toBe(expected.has(one));
      }),
    );
  });

  it.each([
    [
      'UUIDs that differ in several parts',
      (n: number) => `${hex(n, 8)}-${hex(n >>> 3, 4)}-4000-8000-${hex(n * 7919, 12)}`,
    ],
    ['UUIDs that count', (n: number) => `01a20588-063d-77a0-8526-${hex(n, 12)}`],
    ['UUIDs that begin with a number', (n: number) => `${hex(n, 8)}-063d-77a0-8526-08b168d72289`],
    ['email addresses', (n: number) => `traveler${n}@example.com`],
  ])('keeps 20,000 %s', (_name, make) => {
    const set = new IdSet();
    for (let n = 0; n < 20_000; n += 1) set.add(make(n));
    expect(set.size).toBe(20_000);
    const isFound = Array.from({ length: 40_000 }, (_, n) => set.has(make(n)));
    expect(isFound.indexOf(false)).toBe(20_000);
    expect(isFound.lastIndexOf(true)).toBe(19_999);
  });
});

function hex(n: number, digits: number): string {
  return n.toString(16).padStart(digits, '0').slice(-digits);
}
