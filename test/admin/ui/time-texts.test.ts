import { deadlineText, sinceText, timeText, withLocalTimes } from '../../../src/admin/ui/components/texts.ts';

const now = Date.parse('2026-11-23T08:00:00Z');

test('a moment is told relative to now below a day', () => {
  expect(timeText(now - 120_000, now)).toBe('2 min ago');
  expect(timeText(now - 7_000, now)).toBe('7 s ago');
  expect(timeText(now + 7_200_000, now)).toBe('in 2 h');
});

test('a deadline that has passed is due', () => {
  expect(deadlineText(now - 120_000, now)).toBe('due');
  expect(deadlineText(now, now)).toBe('due');
  expect(deadlineText(now + 120_000, now)).toBe('in 2 min');
});

test('the times of a sentence are local ones, those of today without the day', () => {
  const local = (at: string, style: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(undefined, style).format(new Date(at));
  const text = 'It answers 503 since 2026-11-23T07:02Z; before, since 2026-11-20T07:02Z.';
  const today = local('2026-11-23T07:02Z', { timeStyle: 'short', hourCycle: 'h23' });
  const before = local('2026-11-20T07:02Z', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' });
  expect(withLocalTimes(text, now)).toBe(`It answers 503 since ${today}; before, since ${before}.`);
});

test('the beginning of something is told by the time of day, not by its age, and before today with the day', () => {
  const local = (style: Intl.DateTimeFormatOptions) => (at: number) =>
    new Intl.DateTimeFormat(undefined, style).format(at);
  const [begun, before] = [now - 7_000, now - 50 * 3_600_000];
  expect(sinceText(begun, now)).toBe(local({ timeStyle: 'short', hourCycle: 'h23' })(begun));
  expect(sinceText(before, now)).toBe(
    local({ dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })(before),
  );
});
