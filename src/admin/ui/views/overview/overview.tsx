import { Group, Loader, SimpleGrid, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { ConfirmButton } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { Dim, Time, ViewLink } from '../../components/text.tsx';
import { countText, numberText, sinceText, toWords, withLocalTimes } from '../../components/texts.ts';
import { HelpLink } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { causeNames } from '../decisions/texts.ts';
import { ActivityPanel } from './activity.tsx';
import { Conditions, ConnectionCard } from './conditions.tsx';
import { DemoDayNotice, FirstSteps } from './demo-day.tsx';
import { Notice, Panel } from './panel.tsx';
import { type Overview, peopleStates, stateMarks, useOverview } from './state.ts';

/** The view Overview: faults and since when they exist, waiting changes, and all that needs an admin. */
export function OverviewView() {
  const overview = useOverview();
  useDocumentTitle('Overview · Jetbridge');
  return (
    <Loaded query={overview}>
      {(data) => (
        <Stack gap="md">
          <StateSentence {...data} />
          <Conditions conditions={data.conditions} />
          {data.conditions.map(
            ({ kind, connection, people = 0 }) =>
              kind === 'restoredPeople' &&
              connection && <RestoredPeople key={connection} id={connection} people={people} />,
          )}
          {data.connections.map(
            ({ id, mode, since }) => mode === 'shadow' && <ShadowNotice key={id} id={id} since={since} />,
          )}
          <DemoDayNotice demoDay={data.demoDay} />
          {data.steps && <FirstSteps steps={data.steps} demoDay={data.demoDay} />}
          <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
            <PeopleNumbers people={data.people} keptActive={data.keptActive} />
            <Findings findings={data.findings} />
            <Held held={data.held} />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            <ActivityPanel />
            {usedFirst(data.connections).map((connection) => (
              <ConnectionCard
                key={connection.id}
                connection={connection}
                conditions={data.conditions.filter((one) => one.connection === connection.id)}
              />
            ))}
          </SimpleGrid>
        </Stack>
      )}
    </Loaded>
  );
}

/** Connections that have had requests of an identity provider come before the others. */
function usedFirst(connections: Overview['connections']) {
  const rank = ({ lastRequest }: Overview['connections'][number]) => (lastRequest ? 0 : 1);
  return connections.toSorted((one, other) => rank(one) - rank(other));
}

/** Says that nothing is sent, and leads to what would be. */
function ShadowNotice({ id, since }: { id: string; since: string | undefined }) {
  return (
    <Notice title={`The connection ${id} is in shadow mode`}>
      Nothing is sent to the travel API
      {since && (
        <>
          {' '}
          since <Time at={since} format={sinceText} />
        </>
      )}
      ; leavers keep their access.{' '}
      <ViewLink href={`~/admin/shadow/${encodeURIComponent(id)}`} inherit isInText>
        What going live would do
      </ViewLink>
      .
    </Notice>
  );
}

/** The sentence is the heading of the view. A screen reader reads it again when it changes. */
function StateSentence({ state, sentence }: Overview) {
  const { symbol, color, label } = stateMarks[state];
  return (
    <Group gap="sm" wrap="nowrap">
      <ThemeIcon color={color} variant="light" radius="xl" size={32} aria-label={label} role="img">
        {state === 'working' ? <Loader size={16} color={color} aria-hidden /> : symbol}
      </ThemeIcon>
      <Title order={1} size="h3" fw={600} aria-live="polite">
        {withLocalTimes(sentence, Date.now())}
      </Title>
      <HelpLink />
    </Group>
  );
}

function PeopleNumbers({ people, keptActive }: Pick<Overview, 'people' | 'keptActive'>) {
  return (
    <Panel title="People" action={<ViewLink href="~/admin/people">All {numberText(people.total)}</ViewLink>}>
      {peopleStates.map(({ state, symbol, label }) => (
        <NumberRow
          key={state}
          label={
            <>
              <span aria-hidden>{symbol}</span> {label}
            </>
          }
          count={people[state]}
          to={`/people?state=${state}`}
        />
      ))}
      {keptActive > 0 && (
        <NumberRow
          label={
            <>
              <span aria-hidden>♦</span> kept active by an admin
            </>
          }
          count={keptActive}
          to="/people?finding=keptActive"
        />
      )}
    </Panel>
  );
}

/** The number of kinds of findings that are listed. */
const MAX_KINDS = 6;

function Findings({ findings: { kinds, isCut } }: { findings: Overview['findings'] }) {
  return (
    <Panel
      title="Findings"
      action={kinds.length > 0 && <ViewLink href="~/admin/people/findings">By value</ViewLink>}
    >
      {kinds.length === 0 && (
        <Text c="dimmed">
          No value was left out. A value that cannot be used, such as an incomplete phone number, is listed
          here with what to do about it.
        </Text>
      )}
      {kinds.slice(0, MAX_KINDS).map(({ code, people }) => (
        <NumberRow
          key={code}
          label={toWords(code)}
          count={people}
          isAtLeast={isCut}
          to={`/people/findings?finding=${encodeURIComponent(code)}`}
        />
      ))}
      {kinds.length > MAX_KINDS && <Text c="dimmed">and {kinds.length - MAX_KINDS} other kinds</Text>}
      {isCut && (
        <Text size="xs" c="dimmed">
          Only the first 20,000 people with findings of each connection are counted.
        </Text>
      )}
    </Panel>
  );
}

function Held({ held }: { held: Overview['held'] }) {
  return (
    <Panel title="Held" action={held.length > 0 && <ViewLink href="~/admin/decisions">Decide</ViewLink>}>
      {held.length === 0 && <Text c="dimmed">Nothing waits for an approval.</Text>}
      {held.map(({ connection, cause, people, since }) => (
        <NumberRow
          key={`${connection} ${cause}`}
          label={
            <>
              {causeNames[cause]}{' '}
              <Dim>
                since <Time at={since} format={sinceText} />
              </Dim>
            </>
          }
          count={people}
          to={`/decisions/${encodeURIComponent(connection)}/${cause}`}
        />
      ))}
    </Panel>
  );
}

interface NumberRowProps {
  label: ReactNode;
  count: number;
  to: string;
  isAtLeast?: boolean;
}

/** A number that links to what it counts. Nothing to count is shown muted. */
function NumberRow({ label, count, to, isAtLeast = false }: NumberRowProps) {
  return (
    <Group justify="space-between" wrap="nowrap" gap="xs">
      <Text {...(count === 0 && { c: 'dimmed' })} component="div">
        {label}
      </Text>
      {count === 0 ? (
        <Text c="dimmed">0</Text>
      ) : (
        <ViewLink href={`~/admin${to}`} fw={600}>
          {isAtLeast && '≥ '}
          {numberText(count)}
        </ViewLink>
      )}
    </Group>
  );
}

/** The people who differ from a restored backup, and the button that has the stored values sent. */
function RestoredPeople({ id, people }: { id: string; people: number }) {
  const isAdmin = useIsAdmin();
  const differs = countText(people, 'traveler differs', 'travelers differ');
  return (
    <Notice
      title={`The database was restored: ${differs} from it`}
      color="color-red"
      action={
        isAdmin && (
          <ConfirmButton
            label="Send again"
            title={`Send the stored values of ${id} again?`}
            action={`Send the stored values of ${id}`}
            change={() => call('sendAgain', { id })}
            isDestructive
          >
            <Text>
              What the identity provider has not stated since the backup is sent where the travelers differ:
              people are created, activated, archived and changed as in the backup.
            </Text>
          </ConfirmButton>
        )
      }
    >
      In the connection {id} the travelers stay as they are until the identity provider states these people.
      Start a full synchronization there, then look at{' '}
      <ViewLink
        href={`~/admin/people?finding=restored&connection=${encodeURIComponent(id)}`}
        inherit
        isInText
      >
        who still differs
      </ViewLink>
      .
    </Notice>
  );
}
