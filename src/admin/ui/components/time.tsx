import { Tooltip } from '@mantine/core';
import { deadlineText, timeText } from './time-texts.ts';

/**
 * A moment: relative below a day, else in local time; the exact UTC moment appears on hover. A deadline that has passed, such as that of
 * the next attempt, is "due".
 */
export function Time({ at, isDeadline = false }: { at: string; isDeadline?: boolean }) {
  return (
    <Tooltip
      label={`${at.replace('T', ' ').replace('Z', '')} UTC`}
      events={{ hover: true, focus: false, touch: true }}
    >
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {(isDeadline ? deadlineText : timeText)(new Date(at).getTime(), Date.now())}
      </time>
    </Tooltip>
  );
}
