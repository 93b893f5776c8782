import {
  Alert,
  Badge,
  Box,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Table,
  Text,
  Textarea,
  Title,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  PreviewedField,
  PreviewedFinding,
  PreviewedRule,
} from '../../../../operations/mappings/mapping-changes.ts';
import type { Person } from '../../../../operations/people/people.ts';
import { fieldLabel, valueText } from '../../../../provisioning/mapping-changes/value-texts.ts';
import { FieldName } from '../../components/field-name.tsx';
import { Failure, LoadingView } from '../../components/loading.tsx';
import { Breakable, ViewLink } from '../../components/text.tsx';
import { parseObject, toChoices, withShortUrns } from '../../components/texts.ts';
import { call, type Result } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { whomText } from './rule-words.ts';

interface PanelProps {
  connection: string;
  /** The mapping that is edited. */
  text: string;
  /** The id of the person. */
  person: string | undefined;
  /** True if no identity provider has sent a person yet. */
  isUnsent: boolean;
  onPerson: (id: string) => void;
}

/** An example person, translated with the mapping while it is edited. */
export function PersonPanel({ connection, text, person, isUnsent, onPerson }: PanelProps) {
  const [mode, setMode] = useState('stored');
  const [pasted, setPasted] = useState('');
  const [shown] = useDebouncedValue(text, 250);
  const [typed] = useDebouncedValue(pasted, 250);
  const user = mode === 'pasted' ? parseUser(typed) : undefined;
  const subject = mode === 'pasted' ? user : person && { person };
  const preview = useRead(
    'previewPerson',
    { connection, text: shown, ...Object(subject) },
    { enabled: Boolean(subject), placeholderData: keepPreviousData, gcTime: 30_000 },
  );
  return (
    <Stack gap="sm" component="section" aria-label="Example person">
      <Group justify="space-between">
        <Title order={2} size="h5">
          Example person
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="Where the person comes from"
          value={mode}
          onChange={setMode}
          data={toChoices({ stored: 'A person', pasted: 'Paste a user' })}
        />
      </Group>
      {mode === 'stored' ? (
        <PersonSelect {...{ connection, person, isUnsent, onPerson }} />
      ) : (
        <Textarea
          aria-label="SCIM user as JSON"
          placeholder='{"userName": "ada@corp.example", "name": {"givenName": "Ada"}}'
          description="A SCIM user as the identity provider sends it. It is not stored."
          autosize
          minRows={4}
          maxRows={14}
          ff="monospace"
          value={pasted}
          onChange={(event) => setPasted(event.currentTarget.value)}
          error={typed !== '' && !user ? 'This is not a JSON object.' : undefined}
        />
      )}
      {subject && <Failure error={preview.error} title="No result" />}
      {subject && preview.isLoading && <LoadingView />}
      {subject && preview.data && <PersonResult result={preview.data} isBusy={preview.isPlaceholderData} />}
    </Stack>
  );
}

function parseUser(text: string): { user: Record<string, never> } | undefined {
  const user = parseObject(text);
  return user && { user: user as Record<string, never> }; // The service checks its members.
}

function PersonSelect({ connection, person, isUnsent, onPerson }: Omit<PanelProps, 'text'>) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), 250);
  const found = useQuery({
    queryKey: ['mapping-people', connection, search],
    queryFn: () => findPeople(connection, search),
    placeholderData: keepPreviousData,
  });
  const chosen = useRead(
    'explainPerson',
    { connection, id: person ?? '' },
    { enabled: person !== undefined },
  );
  const options = new Map((found.data ?? []).map(({ id, name, userName }) => [id, labelOf(name, userName)]));
  if (person !== undefined && chosen.data)
    options.set(person, labelOf(chosen.data.name, chosen.data.userName));
  if (found.data?.length === 0 && search === '' && person === undefined)
    return (
      <Text c="dimmed">
        No person has been provisioned yet. Paste a SCIM user, or{' '}
        <ViewLink href="~/admin/connect" isInText>
          connect an identity provider
        </ViewLink>
        .
      </Text>
    );
  return (
    <>
      <Select
        aria-label="Person"
        placeholder="Search by name or email address"
        searchable
        data={[...options].map(([value, label]) => ({ value, label }))}
        value={person ?? null}
        onChange={(id) => id && onPerson(id)}
        onSearchChange={setTyped}
        filter={({ options: all }) => all}
        nothingFoundMessage="Nobody is found."
      />
      {isUnsent && person === undefined && (
        <Text c="dimmed">
          No identity provider has sent a person to this connection yet. Choose one who was imported from the
          travel service, or paste a SCIM user.
        </Text>
      )}
    </>
  );
}

/** The people of a connection who match a text; without a text, or while it is that of the choice, the first ones. */
async function findPeople(connection: string, search: string): Promise<Person[]> {
  const text = search.replace(/^.*\((.*)\)$/, '$1');
  if (text === '') return (await call('listPeople', { connection, limit: 10 })).people;
  const { people } = await call('findPeople', { text });
  return people.filter((one) => one.connection === connection);
}

function labelOf(name: string, userName: string): string {
  return name === '' ? userName : `${name} (${userName})`;
}

/** The person to begin with. It stays the same while a mapping is edited. */
export function useExamplePerson(connection: string): { example: string | undefined; isUnsent: boolean } {
  const { data } = useRead('findExamplePerson', { connection }, { staleTime: Number.POSITIVE_INFINITY });
  return { example: data?.id, isUnsent: data !== undefined && data.id === undefined };
}

/** The preview of one person, as the API computes it with the text of a mapping. */
type PersonPreview = Result<'previewPerson'>;

/** The fields of the traveler with the rules that made them, then the findings. */
export function PersonResult({ result, isBusy }: { result: PersonPreview; isBusy: boolean }) {
  const { fields, trace, findings, fallbackEmail, scope, names } = result;
  const rulesOf = (field: string) => trace.filter((entry) => entry.field === field);
  const mentioned = fields.filter(({ field, outcome, isChanged }) => {
    const isMentioned = rulesOf(field).some(({ before, when }) => before !== undefined || when !== undefined);
    return outcome !== 'absent' || isChanged || isMentioned;
  });
  const shown = changedFirst(mentioned);
  const empty = fields.filter((field) => !shown.includes(field));
  return (
    <Stack gap="sm" aria-busy={isBusy}>
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

/** Changed fields come first, so that they are seen without scrolling. */
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
  absent: 'no value',
  unresolved: '? not known yet: what was there stays',
  kept: '! the mapping is at fault: it stays as it is',
};

/** Describes the value of a field, or why it gets none. */
function resultText({ outcome, value }: PreviewedField, names: Names) {
  if (outcome === 'value') return valueText(value, names);
  return outcomes[outcome];
}

function FieldRow({ field, rules, names }: { field: PreviewedField; rules: PreviewedRule[]; names: Names }) {
  const { outcome, inForce, isChanged } = field;
  return (
    <Table.Tr {...(isChanged && { bg: 'var(--mantine-primary-color-light)' })}>
      <Table.Td style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
        <FieldName field={field.field} names={names} />
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

/** Describes the effect of one rule, e.g. `mapping: title | trim: Dr → Dr.`. */
function ruleText(
  { origin, rule, when, group, read, outcome, before, transformed, after, reason }: PreviewedRule,
  names: Names,
) {
  const name = `${origins[origin]}: ${withShortUrns(rule)}`;
  // The rule is for others.
  if (outcome === 'skipped' && before === undefined) return `${name} · ${skippedText(when, reason)}`;
  const end = after ?? transformed;
  const isUnchanged = end === undefined || JSON.stringify(end) === JSON.stringify(before);
  const change = isUnchanged ? '' : ` → ${valueText(end, names)}`;
  return [
    name,
    read === undefined ? '' : `, read from ${withShortUrns(read)}`,
    when === undefined ? '' : `, for ${whomText(when)}`,
    group === undefined ? '' : `, as a member of ${group}`,
    before === undefined ? '' : `: ${valueText(before, names)}${change}`,
    outcome === 'set' ? '' : ` · ${outcomeWords[outcome]}`,
    reason === undefined ? '' : ` (${reason})`,
  ].join('');
}

const outcomeWords: Record<PreviewedRule['outcome'], string> = {
  set: 'set',
  absent: 'no value',
  unresolved: 'not known yet',
  kept: 'what was there stays',
  skipped: 'not used',
};

function skippedText(when: string | undefined, reason: string | undefined): string {
  return when === undefined
    ? `not used (${reason ?? 'another rule sets the field'})`
    : `only for ${whomText(when)}`;
}

function FindingAlert({ finding, names }: { finding: PreviewedFinding; names: Names }) {
  const { field, value, reason, remedy } = finding;
  return (
    <Alert
      color="yellow"
      p="xs"
      title={`⚠ ${fieldLabel(field, names)} ${value === undefined ? '' : valueText(value, names)}`}
    >
      <Text>{reason}</Text>
      <Box>
        <Text>→ {remedy}</Text>
      </Box>
    </Alert>
  );
}
