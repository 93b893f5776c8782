import { Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { fieldLabel, valueText } from '../../../model/value-texts.ts';
import type { PersonExplanation } from '../../../operations/people/person.ts';

type Finding = PersonExplanation['findings'][number];

interface FindingNotesProps {
  findings: Finding[];
  /** The names of custom fields and ids. */
  names: Record<string, string>;
  /** What stands behind the reason. */
  linkOf?: (finding: Finding) => ReactNode;
}

/** The values that were not set, each with the reason and the remedy. */
export function FindingNotes({ findings, names, linkOf }: FindingNotesProps) {
  if (findings.length === 0) return null;
  return (
    <Stack component="ul" aria-label="Findings" gap={6} m={0} p={0}>
      {findings.map((finding) => (
        <Paper
          key={`${finding.field} ${finding.code} ${finding.mappingPath}`}
          component="li"
          className="note"
          withBorder
        >
          <Text style={{ overflowWrap: 'anywhere' }}>
            ⚠ <b>{fieldLabel(finding.field, names)}</b> {quoted(finding.value, names)}
            {finding.reason} {linkOf?.(finding)}
          </Text>
          <Text>
            → {finding.remedy}
            {finding.mappingPath && ` (mapping: ${finding.mappingPath})`}
          </Text>
        </Paper>
      ))}
    </Stack>
  );
}

/** A flag says nothing that the reason does not say. */
function quoted(value: unknown, names: Record<string, string>): string {
  const text = typeof value === 'boolean' ? '' : valueText(value, names);
  return text && `“${text}” `;
}
