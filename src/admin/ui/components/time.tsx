import { Tooltip } from '@mantine/core';

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A moment: relative below a day, else in local time; the exact UTC moment appears on hover. */
export function Time({ at }: { at: string }) {
  return (
    <Tooltip
      label={`${at.replace('T', ' ').replace('Z', '')} UTC`}
      events={{ hover: true, focus: false, touch: true }}
    >
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {timeText(new Date(at).getTime(), Date.now())}
      </time>
    </Tooltip>
  );
}

/** Returns the text of a moment, both in epoch milliseconds. */
export function timeText(at: number, now: number): string {
  const difference = at - now;
  const distance = Math.abs(difference);
  if (distance >= DAY) return local.format(at);
  if (distance >= HOUR) return relative.format(Math.trunc(difference / HOUR), 'hour');
  if (distance >= MINUTE) return relative.format(Math.trunc(difference / MINUTE), 'minute');
  return relative.format(Math.trunc(difference / 1000), 'second');
}
