import { nextPosition } from '../../src/store/sql/positions.ts';

it('assigns increasing positions that begin with the present time in microseconds', () => {
  const before = Date.now() * 1000;
  const positions = Array.from({ length: 5000 }, () => nextPosition());
  expect(positions[0]).toBeGreaterThanOrEqual(before);
  expect(positions).toEqual(positions.toSorted((left, right) => left - right));
  expect(new Set(positions).size).toBe(5000);
});

it('assigns incomplete users exact positions after all others', () => {
  const incomplete = nextPosition({ incomplete: 1 });
  expect(incomplete).toBeGreaterThan(2 * nextPosition());
  expect(Number.isSafeInteger(incomplete)).toBe(true);
  expect(nextPosition({ incomplete: 1 })).toBeGreaterThan(incomplete);
});
