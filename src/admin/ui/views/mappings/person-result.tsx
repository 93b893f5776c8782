import { Alert, Badge, Box, Stack, Table, Text } from '@mantine/core';
import type { PreviewedField, PreviewedFinding, PreviewedRule } from '../../../contract/mappings.ts';
import type { Result } from '../../api.ts';
import { Breakable } from '../../components/text.tsx';
import { fieldLabel, valueText } from './texts.ts';

/** The preview of one person, as the API computes it with the text of a mapping. */
type PersonPreview = Result<'previewPerson'>;

/** The fields of the traveler with the rules that made them, then the findings. */
export function PersonResult({ result, isStale }: { result: PersonPreview; isStale: boolean }) {
  const { fields, trace, findings, fallbackEmail, scope, names } = result;
  const rulesOf = (field: string) => trace.filter((entry) => entry.field === field);
  const mentioned = fields.filter(({ field, outcome, isChanged }) => {
    const isMentioned = rulesOf(field).some(({ before, when }) => before !== undefined || when !== undefined);
    return outcome !== 'absent' || isChanged || isMentioned;
  });
  const shown = changedFirst(mentioned);
  const empty = fields.filter((field) => !shown.includes(field));
  return (
    <Stack gap="sm" opacity={isStale ? 0.6 : 1} aria-busy={isStale}>
      {scopeTexts[scope] && (
        <Alert color="gray" p="xs" title={scopeTexts[scope]}>
          <Text>In scope, the traveler would have these values.</Text>
        </Alert>
      )}
      {findings.map((finding) => (
        <FindingAlert key={`${finding.field} ${finding.code}`} finding={finding} names={names} />
      ))}
      <Table aria-label="Result" layout="fixed" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="40%">Field</Table.Th>
            <Table.Th>Result and rule</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((field) => (
            <FieldRow key={field.field} field={field} rules={rulesOf(field.field)} names={names} />
          ))}
        </Table.Tbody>
      </Table>
      {fallbackEmail && <Text c="dimmed">If that email is taken, {fallbackEmail} serves.</Text>}
      {empty.length > 0 && (
        <Text c="dimmed">Nothing for: {empty.map(({ field }) => fieldLabel(field, names)).join(', ')}.</Text>
      )}
    </Stack>
  );
}

/** What the admin has just changed stands where it is seen without scrolling. */
function changedFirst(fields: PreviewedField[]): PreviewedField[] {
  return fields.toSorted((one, other) => Number(other.isChanged) - Number(one.isChanged));
}

type Names = PersonPreview['names'];

const scopeTexts: Record<PersonPreview['scope'], string> = {
  in: '',
  out: '⊘ Out of scope: this person gets no traveler',
  unresolved: '? The scope names a group that has not been received',
};

const outcomes = {
  absent: 'left out',
  unresolved: '? unresolved: what was there stays',
  kept: '! the mapping is at fault: it stays as it is',
};

/** Describes the value of a field, or why it gets none. */
function resultText({ outcome, value }: PreviewedField, names: Names) {
  if (outcome === 'value') return valueText(value, names);
  if (outcome === 'once') return `${valueText(value, names)} · once, when the traveler is created`;
  return outcomes[outcome];
}

function FieldRow({ field, rules, names }: { field: PreviewedField; rules: PreviewedRule[]; names: Names }) {
  const { outcome, inForce, isChanged } = field;
  return (
    <Table.Tr {...(isChanged && { bg: 'var(--mantine-primary-color-light)' })}>
      <Table.Td style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
        <Text>
          <Breakable text={fieldLabel(field.field, names)} />
        </Text>
        {isChanged && (
          <Badge size="xs" color="indigo" variant="light">
            ● changed
          </Badge>
        )}
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Text fw={outcome === 'value' ? 600 : undefined}>
          <Breakable text={resultText(field, names)} />
        </Text>
        {isChanged && (
          <Text size="xs">
            <Breakable text={`now: ${valueText(inForce, names)}`} />
          </Text>
        )}
        {rules.map((rule) => (
          <Text key={`${rule.origin} ${rule.rule} ${rule.when}`} size="xs" c="dimmed">
            <Breakable text={ruleText(rule, names)} />
          </Text>
        ))}
      </Table.Td>
    </Table.Tr>
  );
}

const origins = { file: 'mapping', collection: 'travel service', default: 'default' };

/** Describes the effect of one rule, e.g. `mapping: title | trim: "Dr " → "Dr"`. */
function ruleText(
  { origin, rule, when, group, read, outcome, before, transformed, after, reason }: PreviewedRule,
  names: Names,
) {
  const end = after ?? transformed;
  const isUnchanged = end === undefined || JSON.stringify(end) === JSON.stringify(before);
  return [
    `${origins[origin]}: ${rule}`,
    read === undefined ? '' : `, read from ${read}`,
    when === undefined || (outcome === 'skipped' && before === undefined) ? '' : `, when ${when}`,
    group === undefined ? '' : `, as a member of ${group}`,
    before === undefined
      ? ''
      : `: ${JSON.stringify(before)}${isUnchanged ? '' : ` → ${valueText(end, names)}`}`,
    outcome === 'set' ? '' : ` · ${outcome}`,
    reason === undefined ? '' : ` (${reason})`,
  ].join('');
}

function FindingAlert({ finding, names }: { finding: PreviewedFinding; names: Names }) {
  const { field, value, reason, remedy } = finding;
  return (
    <Alert
      color="yellow"
      p="xs"
      title={`⚠ ${fieldLabel(field, names)} ${value === undefined ? '' : JSON.stringify(value)}`}
    >
      <Text>{reason}</Text>
      <Box>
        <Text>→ {remedy}</Text>
      </Box>
    </Alert>
  );
}
