import { durationMs, parseDays, parseStatusRange, parseTime } from '../../src/cli/arguments.ts';

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

test('a status is one, or a class of them', () => {
  expect(parseStatusRange('404')).toEqual({ from: 404, to: 404 });
  expect(parseStatusRange('4XX')).toEqual({ from: 400, to: 499 });
  for (const text of ['600', '99', '4x', ''])
    expect(() => parseStatusRange(text)).toThrow('must be a status');
});

test('a number of days is a whole one, 1 or more', () => {
  expect(parseDays('1')).toBe(1);
  for (const text of ['0', '-1', '1.5', 'one']) expect(() => parseDays(text)).toThrow('1 or more');
});
