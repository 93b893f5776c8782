import { Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { PersonExplanation } from '../../../contract/people.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { Fact } from '../../components/fact.tsx';
import { findingText } from '../../components/finding-text.ts';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { queryClient, useSession } from '../../session.ts';
import { FieldTable } from './fields.tsx';
import { changeText, fieldName, markOfVerdict, reasonText, referenceTexts, valueText } from './texts.ts';
import { Timeline } from './timeline.tsx';

/** While a person waits for an attempt, the view is read again this often, in milliseconds. */
const REFRESH_MS = 2_000;

interface Key {
  connection: string;
  id: string;
}

/** Everything that is known about one person. */
export function PersonView({ connection, id }: Key) {
  const person = useQuery({
    queryKey: ['person', connection, id],
    queryFn: () => call('explainPerson', { connection, id }),
    refetchInterval: ({ state: { data } }) => (data?.verdict.status === 'waiting' ? REFRESH_MS : false),
  });
  return (
    <>
      <Anchor component={Link} href="/" size="sm">
        ← People
      </Anchor>
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

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={2} size="h5" mb={6}>
        {title}
      </Title>
      {children}
    </section>
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
            <ReconcileButton person={person} />
          </Group>
        }
      />
      <Group gap="xs" mt={-8}>
        <StateBadge mark={markOfVerdict(verdict)} />
        <Text size="sm">{reasonText(person)}</Text>
        {verdict.since && (
          <Text size="sm">
            Since <Time at={verdict.since} />.
          </Text>
        )}
        {verdict.until && (
          <Text size="sm">
            Next attempt <Time at={verdict.until} isDeadline />.
          </Text>
        )}
        {verdict.status === 'held' && (
          <Anchor component={Link} href="~/admin/held" size="sm" underline="always">
            Approve or discard
          </Anchor>
        )}
      </Group>
      <Text size="sm" c="dimmed" mt={4}>
        {name && `${userName} · `}connection {connection} · {changeText(person)} <Time at={lastModified} />
      </Text>
    </div>
  );
}

/** Gives the person the traveler of the leaver in whose place the person is. */
function JoinButton({ person: { connection, id, predecessor } }: { person: PersonExplanation }) {
  const canChange = useSession()?.role === 'admin';
  const [isAsked, setAsked] = useState(false);
  const join = useMutation({
    mutationFn: () => call('joinPerson', { connection, id }),
    onSuccess: () => {
      setAsked(false);
      return queryClient.invalidateQueries({ queryKey: ['person', connection, id] });
    },
  });
  const isPossible = predecessor?.effect === 'separate' || predecessor?.effect === 'held';
  if (!canChange || !isPossible) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setAsked(true)}>
        Join
      </Button>
      {isAsked && (
        <Confirm
          title="Are both one person?"
          action="Join the two"
          mutation={join}
          onClose={() => setAsked(false)}
        >
          <Text size="sm">
            This person gets the traveler of the leaver{' '}
            {predecessor.id && (
              <Anchor component={Link} href={`/${predecessor.connection}/${predecessor.id}`} size="sm">
                {predecessor.id}
              </Anchor>
            )}
            , with its trips and everything else that it has. A traveler that the person has now is archived.
          </Text>
        </Confirm>
      )}
    </>
  );
}

function ReconcileButton({ person: { connection, id } }: { person: PersonExplanation }) {
  const canChange = useSession()?.role === 'admin';
  const reconciliation = useMutation({
    mutationFn: () => call('reconcilePerson', { connection, id }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['person', connection, id] }),
  });
  if (!canChange) return null;
  return (
    <Group gap="xs">
      <Text size="sm" role="status" c={reconciliation.error ? 'red' : 'dimmed'}>
        {reconciliation.error?.message ?? (reconciliation.isSuccess ? 'An attempt is made now.' : '')}
      </Text>
      <Button
        size="xs"
        variant="default"
        loading={reconciliation.isPending}
        onClick={() => reconciliation.mutate()}
      >
        Reconcile now
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
          <Text size="sm">
            ⚠ <b>{fieldName(field, names)}</b> {valueText(value, names) && `“${valueText(value, names)}” `}
            {reason}{' '}
            <Anchor component={Link} href={`/?finding=${code}`} size="xs" underline="always">
              {findingText(code)}
            </Anchor>
          </Text>
          <Text size="sm">
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
      {references.map(({ raw, id, userName, standing }) => (
        <Text key={raw} component="li" size="sm" style={{ listStyle: 'none' }}>
          {id === undefined ? (
            raw
          ) : (
            <Anchor component={Link} href={`/${connection}/${id}`} size="sm" underline="always">
              {userName ?? raw}
            </Anchor>
          )}{' '}
          <Text span c="dimmed" size="sm">
            {referenceTexts[standing]}
          </Text>
        </Text>
      ))}
    </Stack>
  );
}

/** Ids and times. */
function Facts({ person }: { person: PersonExplanation }) {
  const { id, travelId, version, attempts, rulesGeneration, rulesInForce } = person;
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
        <Fact label="Rules">
          translated with version {rulesGeneration}; {rulesInForce} is in force
        </Fact>
      )}
    </Group>
  );
}
