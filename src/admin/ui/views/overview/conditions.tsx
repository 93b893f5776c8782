import { Box, Group, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ConnectionHealth, LastExchange } from '../../../../operations/overview.ts';
import { StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { countText, numberText, withLocalTimes } from '../../components/texts.ts';
import { Panel } from './panel.tsx';
import { conditionMarks, type Overview } from './state.ts';

/** Everything that needs attention now, what fails first, each with the place that shows it or the command. */
export function Conditions({ conditions }: Pick<Overview, 'conditions'>) {
  if (conditions.length === 0) return null;
  return (
    <Panel title="Needs attention">
      <Box component="ul" m={0} pl={0} style={{ listStyle: 'none' }}>
        {conditions.map((condition) => (
          <OpenCondition
            key={`${condition.kind} ${condition.connection} ${condition.subject}`}
            condition={condition}
          />
        ))}
      </Box>
    </Panel>
  );
}

function OpenCondition({ condition }: { condition: Overview['conditions'][number] }) {
  const { kind, severity, subject, text, path, command } = condition;
  const { symbol, label } = conditionMarks[severity];
  const isToken = kind === 'tokenEnds' || kind === 'adminTokenEnds';
  return (
    <Text component="li" py={2}>
      <span role="img" aria-label={label}>
        {symbol}
      </span>{' '}
      {withLocalTimes(text, Date.now())} {isToken && `It is “${subject}”. `}
      {path !== undefined && path !== '/overview' && (
        <ViewLink href={`~/admin${path}`} inherit isInText>
          Show
        </ViewLink>
      )}
      {command !== undefined && (
        <Text span inherit c="dimmed">
          {' '}
          <code>{command}</code>
        </Text>
      )}
    </Text>
  );
}

const feedTexts: Record<ConnectionHealth['feed'], string> = {
  off: 'switched off in the settings',
  followed: '✓ followed',
  notFollowed: 'not followed: the travel API has none, or it was not read yet',
};

/** The health of a connection, row by row. */
export function ConnectionCard({
  connection,
  conditions,
}: {
  connection: ConnectionHealth;
  conditions: Overview['conditions'];
}) {
  const { id, people, waiting, lastRequest, lastCall, lastImport, feed } = connection;
  const { mappingFaults, staleLookups } = connection;
  const outage = conditions.find(({ kind }) => kind === 'travelOutage' || kind === 'credentialRefused');
  const pause = outage ? withLocalTimes(outage.text, Date.now()) : pauseText(connection);
  const mark = cardMark(connection, conditions);
  const name = encodeURIComponent(id);
  const rows: { label: string; value: ReactNode }[] = [
    { label: 'People', value: <Counts name={name} people={people} waiting={waiting} /> },
    {
      label: 'Last request',
      value: <Last exchange={lastRequest} to={`/traffic?connection=${name}&direction=scim`} />,
    },
    {
      label: 'Last travel call',
      value: <Last exchange={lastCall} to={`/traffic?connection=${name}&direction=travel`} />,
    },
    { label: 'Calls', value: pause ? <Fault>{pause}</Fault> : '✓ are made' },
    { label: 'Last import', value: <LastImport lastImport={lastImport} /> },
    { label: 'Event feed', value: feedTexts[feed] },
    { label: 'Mapping', value: <MappingFaults count={mappingFaults} name={name} /> },
  ];
  if (staleLookups.length > 0)
    rows.push({ label: 'Lookups', value: <Fault>cannot be read: {staleLookups.join(', ')}</Fault> });
  return (
    <Panel title={`Connection ${id}`} action={<StateBadge mark={mark} />}>
      <Table
        variant="vertical"
        withRowBorders={false}
        verticalSpacing={3}
        horizontalSpacing={0}
        highlightOnHover={false}
      >
        <Table.Tbody>
          {rows.map(({ label, value }) => (
            <Table.Tr key={label}>
              <Table.Th scope="row" w={130} fw={400} bg="transparent" c="dimmed">
                {label}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Panel>
  );
}

const openMark = { symbol: '✓', label: 'open' };

/** The mark of the worst condition; a connection in which changes wait is not open either. */
function cardMark({ mode }: ConnectionHealth, conditions: Overview['conditions']) {
  if (conditions.some(({ severity }) => severity === 'failing')) return conditionMarks.failing;
  if (mode !== 'live') return { ...conditionMarks.warning, label: mode };
  return conditions.length > 0 ? conditionMarks.warning : openMark;
}

/** Says why no calls with an effect are made; undefined while they are. */
function pauseText({ mode }: ConnectionHealth): string | undefined {
  return mode === 'live' ? undefined : 'the connection is in shadow mode';
}

function Counts({ name, people, waiting }: { name: string; people: number; waiting: number }) {
  return (
    <>
      <ViewLink inherit href={`~/admin/people?connection=${name}`}>
        {numberText(people)}
      </ViewLink>
      {waiting > 0 && (
        <>
          ,{' '}
          <ViewLink inherit href={`~/admin/people?connection=${name}&state=dirty`}>
            {numberText(waiting)} waiting
          </ViewLink>
        </>
      )}
    </>
  );
}

function Last({ exchange, to }: { exchange: LastExchange | undefined; to: string }) {
  if (!exchange)
    return (
      <Text span inherit c="dimmed">
        none in the last day
      </Text>
    );
  const { at, method, status, error, isFailed } = exchange;
  return (
    <Group gap={6} wrap="wrap">
      <Time at={at} />
      <ViewLink inherit href={`~/admin${to}`}>
        {isFailed ? '✗' : '✓'} {method} {status ?? error ?? 'no response'}
      </ViewLink>
    </Group>
  );
}

function LastImport({ lastImport }: { lastImport: ConnectionHealth['lastImport'] }) {
  if (!lastImport) return 'none yet';
  const { at, read, isIncomplete, maximum } = lastImport;
  return (
    <>
      <Time at={at} />, {countText(read, 'traveler')} read
      {maximum !== undefined && (
        <Fault>. It ended at its maximum of {numberText(maximum)}; see “import” in the documentation</Fault>
      )}
      {isIncomplete && (
        <Fault>
          . It listed so few that no missing one was taken for deleted; see “import” in the documentation
        </Fault>
      )}
    </>
  );
}

function MappingFaults({ count, name }: { count: number; name: string }) {
  if (count === 0) return '✓ without faults';
  return (
    <ViewLink inherit href={`~/admin/mappings?connection=${name}`}>
      ✗ {countText(count, 'fault')}
    </ViewLink>
  );
}

function Fault({ children }: { children: ReactNode }) {
  return (
    <Text span inherit fw={600}>
      ✗ {children}
    </Text>
  );
}
