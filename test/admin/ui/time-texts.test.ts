import { deadlineText, timeText } from '../../../src/admin/ui/components/time-texts.ts';

const now = Date.parse('2026-11-23T08:00:00Z');

test('a moment is told relative to now below a day', () => {
  expect(timeText(now - 120_000, now)).toBe('2m ago');
  expect(timeText(now + 7_200_000, now)).toBe('in 2h');
});

test('a deadline that has passed is due', () => {
  expect(deadlineText(now - 120_000, now)).toBe('due');
  expect(deadlineText(now, now)).toBe('due');
  expect(deadlineText(now + 120_000, now)).toBe('in 2m');
});
