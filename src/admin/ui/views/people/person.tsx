import { Button, Group, Stack, Text } from '@mantine/core';
import type { PersonExplanation } from '../../../../operations/people/person.ts';
import { Copyable } from '../../components/buttons.tsx';
import { ConfirmButton } from '../../components/dialogs.tsx';
import { FindingNotes } from '../../components/finding-notes.tsx';
import { Loaded } from '../../components/loading.tsx';
import { Dim, Fact, Section, StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { deadlineText, findingLabel, sinceText } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { versionHref } from '../mappings/rules/links.ts';
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
    <Loaded query={person}>
      {(data) => (
        <Stack gap="lg">
          <Head person={data} />
          <FindingNotes
            findings={data.findings}
            names={data.names}
            linkOf={({ code }) => (
              <ViewLink href={`/?finding=${code}`} size="xs" isInText>
                {findingLabel(code)}
              </ViewLink>
            )}
          />
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
  );
}

/** The name, the state, and why. */
function Head({ person }: { person: PersonExplanation }) {
  const { name, userName, connection, lastModified, verdict } = person;
  const mark = markOfExplained(person);
  return (
    <div>
      <ViewHead
        title={name || userName}
        back={{ href: '/', label: 'People' }}
        actions={
          <Group gap="xs">
            <JoinButton person={person} />
            <SendAgainButton person={person} />
            <ReconcileButton person={person} />
          </Group>
        }
      />
      <Group gap="xs" mt={-8}>
        {mark.color && <StateBadge mark={mark} />}
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
  const text = reconciliation.error?.message ?? (reconciliation.isSuccess ? 'An attempt is made now.' : '');
  return (
    <Group gap={text === '' ? 0 : 'xs'}>
      <Button loading={reconciliation.isPending} onClick={() => reconciliation.mutate()}>
        Bring up to date now
      </Button>
      <Text role="status" c={reconciliation.error ? 'red' : 'dimmed'}>
        {text}
      </Text>
    </Group>
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
  const connections = useRead('listConnections', {}).data?.connections;
  const isEmbedded = connections?.find((one) => one.id === connection)?.travelApi === 'embedded';
  const isStale = rulesGeneration > 0 && rulesGeneration < rulesInForce;
  const times = { Created: person.createdAt, Deleted: person.deletedAt, 'Read again': person.checkAt };
  return (
    <Group gap="xl" align="flex-start">
      <Fact label="SCIM id">
        <Copyable text={id} name="the SCIM id" />
      </Fact>
      <Fact label="Travel user id">
        {travelId === undefined ? (
          '– none'
        ) : (
          <Group gap="xs">
            <Copyable text={travelId} name="the travel user id" />
            {isEmbedded && (
              <ViewLink href={`~/admin/travel-data/users/${travelId}`}>Look at the traveler</ViewLink>
            )}
          </Group>
        )}
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
