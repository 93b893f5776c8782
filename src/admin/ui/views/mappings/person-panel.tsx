import { Alert, Badge, Group, SegmentedControl, Stack, Text, Textarea, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldLabel, shownText } from '../../../../model/value-texts.ts';
import type { PreviewedField, PreviewedRule } from '../../../../operations/mappings/mapping-changes.ts';
import { originTexts } from '../../../../provisioning/people/person-texts.ts';
import { FieldName } from '../../components/field-name.tsx';
import { FindingNotes } from '../../components/finding-notes.tsx';
import { Failure, LoadingView } from '../../components/loading.tsx';
import { PersonBox, useNameOf } from '../../components/person-box.tsx';
import { Rows } from '../../components/rows.tsx';
import { Breakable, personHref, ViewLink } from '../../components/text.tsx';
import { parseObject, toChoices } from '../../components/texts.ts';
import type { Result } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { appliedDetails, appliedText } from './rules/rule-words.ts';

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
        <PersonChoice {...{ connection, person, isUnsent, onPerson }} />
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

/** The person, who is a link to the view of the person, and a field that finds another one. */
function PersonChoice({ connection, person, isUnsent, onPerson }: Omit<PanelProps, 'text'>) {
  const name = useNameOf(person);
  return (
    <>
      <Group justify="space-between" gap="xs">
        {person !== undefined && (
          <ViewLink
            href={personHref(connection, person)}
            fw={500}
            style={{ overflowWrap: 'anywhere', minWidth: 0 }}
          >
            <bdi>{name ?? person}</bdi>
          </ViewLink>
        )}
        <PersonBox
          label={person === undefined ? 'Find a person' : 'Find another person'}
          connection={connection}
          onChoose={({ id }) => onPerson(id)}
        />
      </Group>
      {isUnsent && person === undefined && (
        <Text c="dimmed">
          No identity provider has sent a person to this connection yet. Choose one who was found in the
          travel service, paste a SCIM user, or{' '}
          <ViewLink href="~/admin/connect" isInText>
            connect an identity provider
          </ViewLink>
          .
        </Text>
      )}
    </>
  );
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
      <FindingNotes findings={findings} names={names} />
      <Rows
        label="Result"
        rows={shown}
        keyOf={({ field }) => field}
        columns={[
          {
            label: 'Field',
            width: '40%',
            cell: ({ field, isChanged }) => (
              <>
                <FieldName field={field} names={names} />
                {isChanged && (
                  <Badge size="xs" color="indigo" variant="light">
                    ● changed
                  </Badge>
                )}
              </>
            ),
          },
          {
            label: 'Result and rule',
            cell: (field) => <FieldResult field={field} rules={rulesOf(field.field)} names={names} />,
          },
        ]}
      />
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
  if (outcome === 'value') return shownText(value, names);
  return outcomes[outcome];
}

function FieldResult({
  field,
  rules,
  names,
}: {
  field: PreviewedField;
  rules: PreviewedRule[];
  names: Names;
}) {
  const { outcome, inForce, isChanged } = field;
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      <Text fw={outcome === 'value' ? 500 : undefined}>
        <Breakable text={resultText(field, names)} />
      </Text>
      {isChanged && (
        <Text size="xs">
          <Breakable text={`now: ${shownText(inForce, names)}`} />
        </Text>
      )}
      {rules.map((rule) => (
        <Text key={`${rule.origin} ${rule.rule} ${rule.when}`} size="xs" c="dimmed">
          <Breakable text={ruleText(rule, names)} />
        </Text>
      ))}
    </div>
  );
}

/** Describes the effect of one rule, e.g. `mapping: title, then trim: Dr → Dr.`. */
function ruleText(rule: PreviewedRule, names: Names) {
  const { origin, before, transformed, after } = rule;
  const input = appliedText(rule.rule);
  const [from, to] = [shownText(before, names), shownText(after ?? transformed ?? before, names)];
  const change = from === to ? '' : ` → ${to}`;
  // A fixed value is the rule itself.
  const isTold = before === undefined || (change === '' && from === input);
  const details = appliedDetails(rule);
  return `${originTexts[origin]}: ${input}${isTold ? '' : `: ${from}${change}`}${details && ` · ${details}`}`;
}
