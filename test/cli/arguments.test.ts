import { durationMs, parseTime } from '../../src/cli/terminal/arguments.ts';

test.each([
  ['90s', 90_000],
  ['15m', 900_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['7', undefined],
  ['7w', undefined],
  ['1.5h', undefined],
  ['1234567s', undefined],
])('the duration %s has %s ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test('a time is a date-time, and anything else is refused', () => {
  expect(parseTime('2026-11-20T08:00:00Z')).toBe(Date.UTC(2026, 10, 20, 8));
  expect(() => parseTime('yesterday')).toThrow('must be e.g. 90s, 15m, 2h, 7d, or a time');
});
