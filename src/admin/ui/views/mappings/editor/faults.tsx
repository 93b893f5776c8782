import { Stack, Text } from '@mantine/core';
import type { MarkedFault } from './draft.ts';

/** The faults, each with its remedy, one line for each. */
export function FaultTexts({ faults }: { faults: MarkedFault[] }) {
  return faults.map(({ path, problem, remedy, severity }) => (
    <Text
      key={`${path} ${problem}`}
      component="span"
      display="block"
      size="xs"
      {...(severity === 'error' ? { c: 'var(--mantine-color-error)' } : {})}
    >
      {severity === 'error' ? '✗' : '⚠'} {problem}. {remedy}
    </Text>
  ));
}

/** The faults with their places, and why names were not looked up. */
export function FaultList({ faults, unchecked }: { faults: MarkedFault[]; unchecked: string | undefined }) {
  return (
    <Stack gap={4} aria-live="polite">
      {faults.map(({ path, problem, remedy, severity }) => (
        <Text key={`${path} ${problem}`}>
          {severity === 'error' ? '✗' : '⚠'} <b>{path}</b>: {problem}. {remedy}
        </Text>
      ))}
      {unchecked && <Text c="dimmed">Names were not looked up. {unchecked}</Text>}
    </Stack>
  );
}
