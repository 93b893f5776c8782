import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import type { PersonExplanation } from '../../../../operations/people/person.ts';
import { fieldLabel } from '../../../../provisioning/mapping-changes/value-texts.ts';
import { valueText } from '../../../../provisioning/people/person-texts.ts';
import { Copyable } from '../../components/buttons.tsx';
import { ConfirmButton } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { Dim, Fact, Section, StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { deadlineText, sinceText, toWords } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { versionHref } from '../mappings/links.ts';
import { FieldTable } from './fields.tsx';
import { changeText, markOfExplained, reasonText, referenceText } from './texts.ts';
import { Timeline } from './timeline.tsx';

/** While a person waits for an attempt, the view is read again this often, in milliseconds. */
const REFRESH_MS = 2_000;

/** Everything that is known about one person. */
export function PersonView({ connection, id }: { connection: string; id: string }) {
  const person = useRead(
    'explainPerson',
    { connection, id },
    { refetchInterval: ({ state: { data } }) => (data?.verdict.status === 'waiting' ? REFRESH_MS : false) },
  );
  return (
    <>
      <ViewLink href="/">← People</ViewLink>
      <Loaded query={person}>
        {(data) => (
          <Stack gap="lg">
            <Head person={data} />
            <Findings person={data} />
            <Section title="Fields">
              <FieldTable person={data} />
            </Section>
            {data.references.length > 0 && (
              <Section title="Managers">
                <Managers person={data} />
              </Section>
            )}
            <Section title="Timeline">
              <Timeline person={data} />
            </Section>
            <Section title="Record">
              <Facts person={data} />
            </Section>
          </Stack>
        )}
      </Loaded>
    </>
  );
}

/** The name, the state, and why. */
function Head({ person }: { person: PersonExplanation }) {
  const { name, userName, connection, lastModified, verdict } = person;
  return (
    <div>
      <ViewHead
        title={name || userName}
        actions={
          <Group gap="xs">
            <JoinButton person={person} />
            <SendAgainButton person={person} />
            <ReconcileButton person={person} />
          </Group>
        }
      />
      <Group gap="xs" mt={-8}>
        <StateBadge mark={markOfExplained(person)} />
        <Text>{reasonText(person)}</Text>
        {verdict.since && (
          <Text>
            Since <Time at={verdict.since} format={sinceText} />.
          </Text>
        )}
        {verdict.until && (
          <Text>
            Next attempt <Time at={verdict.until} format={deadlineText} />.
          </Text>
        )}
        {verdict.status === 'held' && (
          <ViewLink href="~/admin/decisions" isInText>
            Approve or discard
          </ViewLink>
        )}
      </Group>
      <Text c="dimmed" mt={4}>
        {name && `${userName} · `}connection {connection} · {changeText(person)} <Time at={lastModified} />
      </Text>
    </div>
  );
}

/** Gives the person the traveler of the leaver in whose place the person is. */
function JoinButton({ person: { connection, id, predecessor } }: { person: PersonExplanation }) {
  if (!useIsAdmin() || predecessor?.row !== 3) return null;
  return (
    <ConfirmButton
      label="Join"
      title="Are both one person?"
      action="Join the two"
      change={() => call('joinPerson', { connection, id })}
    >
      <Text>
        This person gets the traveler of the leaver{' '}
        {predecessor.id && (
          <ViewLink href={`/${predecessor.connection}/${predecessor.id}`}>{predecessor.id}</ViewLink>
        )}
        , with its trips and everything else that it has. A traveler that the person has now is archived.
      </Text>
    </ConfirmButton>
  );
}

/** Has the stored values of a person sent who differs from a restored backup. */
function SendAgainButton({ person: { connection, id, findings } }: { person: PersonExplanation }) {
  if (!useIsAdmin() || !findings.some(({ code }) => code === 'restored')) return null;
  return (
    <ConfirmButton
      label="Send again"
      title="Send the stored values again?"
      action="Send the stored values"
      change={() => call('sendAgain', { id: connection, person: id })}
    >
      <Text>
        The database was restored from a backup. What it has of this person is sent where the traveler
        differs.
      </Text>
    </ConfirmButton>
  );
}

function ReconcileButton({ person: { connection, id } }: { person: PersonExplanation }) {
  const reconciliation = useChange(() => call('reconcilePerson', { connection, id }), {});
  if (!useIsAdmin()) return null;
  return (
    <Group gap="xs">
      <Text role="status" c={reconciliation.error ? 'red' : 'dimmed'}>
        {reconciliation.error?.message ?? (reconciliation.isSuccess ? 'An attempt is made now.' : '')}
      </Text>
      <Button loading={reconciliation.isPending} onClick={() => reconciliation.mutate()}>
        Bring up to date now
      </Button>
    </Group>
  );
}

/** The values that were not set, each with the reason and the remedy. */
function Findings({ person: { findings, names } }: { person: PersonExplanation }) {
  if (findings.length === 0) return null;
  return (
    <Stack component="ul" aria-label="Findings" gap={6} m={0} p={0}>
      {findings.map(({ field, code, value, reason, remedy, mappingPath }) => (
        <Paper
          key={`${field} ${code} ${mappingPath}`}
          component="li"
          withBorder
          px="sm"
          py={6}
          style={{ listStyle: 'none', borderLeft: '3px solid var(--mantine-color-yellow-6)' }}
        >
          <Text>
            ⚠ <b>{fieldLabel(field, names)}</b> {valueText(value, names) && `“${valueText(value, names)}” `}
            {reason}{' '}
            <ViewLink href={`/?finding=${code}`} size="xs" isInText>
              {toWords(code)}
            </ViewLink>
          </Text>
          <Text>
            → {remedy}
            {mappingPath && ` (mapping: ${mappingPath})`}
          </Text>
        </Paper>
      ))}
    </Stack>
  );
}

function Managers({ person: { references, connection } }: { person: PersonExplanation }) {
  return (
    <Stack component="ul" gap={4} m={0} p={0}>
      {references.map((reference) => (
        <Text key={reference.raw} component="li" style={{ listStyle: 'none' }}>
          {reference.id === undefined ? (
            reference.raw
          ) : (
            <ViewLink href={`/${connection}/${reference.id}`} isInText>
              {reference.userName ?? reference.raw}
            </ViewLink>
          )}{' '}
          <Dim>{referenceText(reference)}</Dim>
        </Text>
      ))}
    </Stack>
  );
}

/** Ids and times. */
function Facts({ person }: { person: PersonExplanation }) {
  const { id, connection, travelId, version, attempts } = person;
  const { rulesGeneration, rulesInForce, mappingVersion, mappingInForce } = person;
  const isStale = rulesGeneration > 0 && rulesGeneration < rulesInForce;
  const times = { Created: person.createdAt, Deleted: person.deletedAt, 'Read again': person.checkAt };
  return (
    <Group gap="xl" align="flex-start">
      <Fact label="SCIM id">
        <Copyable text={id} name="the SCIM id" />
      </Fact>
      <Fact label="Travel user id">
        {travelId === undefined ? '– none' : <Copyable text={travelId} name="the travel user id" />}
      </Fact>
      <Fact label="Version">{version}</Fact>
      {Object.entries(times).map(
        ([label, at]) =>
          at && (
            <Fact key={label} label={label}>
              <Time at={at} />
            </Fact>
          ),
      )}
      {attempts > 0 && <Fact label="Failed attempts">{attempts}</Fact>}
      {isStale && (
        <Fact label="Mapping">
          {mappingVersion === mappingInForce ? (
            'translated before the custom fields, cost centers … of the travel service changed last'
          ) : (
            <>
              translated with version {mappingVersion};{' '}
              <ViewLink href={versionHref(connection, mappingInForce)} isInText>
                version {mappingInForce}
              </ViewLink>{' '}
              is in force
            </>
          )}
        </Fact>
      )}
    </Group>
  );
}
