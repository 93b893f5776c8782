import { Text } from '@mantine/core';
import type { MappingFault } from '../../../contract/mappings.ts';

/** A fault or a warning, to be shown at its place. */
export interface MarkedFault extends MappingFault {
  severity: 'error' | 'warning';
}

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
