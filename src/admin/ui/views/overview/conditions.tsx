import { Box, Button, Group, Table, Text, ThemeIcon } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { ConnectionHealth, LastExchange } from '../../../../operations/overview.ts';
import { ConfirmButton } from '../../components/dialogs.tsx';
import { Dim, Time, ViewLink } from '../../components/text.tsx';
import { countText, numberText, sinceText, withLocalTimes } from '../../components/texts.ts';
import { call } from '../../requests/api.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { Acknowledgement } from '../alerts/acknowledge.tsx';
import { Panel } from './panel.tsx';
import { conditionMarks, type Overview } from './state.ts';

/** The number of conditions that are shown at first. */
const FIRST = 10;

/** What needs attention now, what fails first, each once: with its cause, its beginning and the next step. `sentence` is the heading above. */
export function Conditions({ conditions, sentence }: Pick<Overview, 'conditions' | 'sentence'>) {
  const [isAll, setAll] = useState(false);
  if (conditions.length === 0) return null;
  return (
    <section aria-label="Needs attention">
      <Box component="ul" m={0} p={0} className="condition-list">
        {conditions.slice(0, isAll ? conditions.length : FIRST).map((condition) => (
          <OpenCondition
            key={`${condition.kind} ${condition.connection} ${condition.subject}`}
            condition={condition}
            isTold={sentence.includes(condition.text)}
          />
        ))}
      </Box>
      {conditions.length > FIRST && !isAll && (
        <Button mt="xs" onClick={() => setAll(true)}>
          Show all {conditions.length}
        </Button>
      )}
    </section>
  );
}

type Condition = Overview['conditions'][number];

/** A condition; without its text if the heading has told it, and it is no token, of which several may have one text. */
function OpenCondition({ condition, isTold }: { condition: Condition; isTold: boolean }) {
  const { kind, severity, subject, since, text, next, path, command } = condition;
  const { symbol, color, label } = conditionMarks[severity];
  const isToken = kind === 'tokenEnds' || kind === 'adminTokenEnds';
  return (
    <Group component="li" py={8} gap="sm" wrap="nowrap" align="flex-start">
      <ThemeIcon color={color} variant="light" radius="xl" size={20} fz={12} role="img" aria-label={label}>
        {symbol}
      </ThemeIcon>
      <div style={{ flex: 1, minWidth: 0 }}>
        <Text>
          {(!isTold || isToken) && `${withLocalTimes(text, Date.now())} `}
          {isToken && `It is “${subject}”. `}
          {since !== undefined && !/ since \d{4}-/.test(text) && (
            <Dim>
              Since <Time at={since} format={sinceText} />.
            </Dim>
          )}
        </Text>
        <Text c="dimmed">
          {next} {command !== undefined && <code className="command">{command}</code>}
        </Text>
        <Acknowledgement condition={condition} />
      </div>
      {kind === 'restoredPeople' && <SendAgainButton id={condition.connection ?? ''} />}
      {path !== undefined && path !== '/overview' && (
        <ViewLink href={`~/admin${path}`} style={{ whiteSpace: 'nowrap' }}>
          {linkTexts[kind] ?? 'Show'}
        </ViewLink>
      )}
    </Group>
  );
}

/** What the link of a condition leads to, where it is not just shown. */
const linkTexts: Partial<Record<Condition['kind'], string>> = {
  ...{ hold: 'Decide', proposedRules: 'Decide' },
  ...{ travelOutage: 'The calls', credentialRefused: 'The calls', staleLookups: 'The calls' },
};

/** Has the stored values sent of everybody who differs from a restored backup. */
function SendAgainButton({ id }: { id: string }) {
  if (!useIsAdmin()) return null;
  return (
    <ConfirmButton
      label="Send again"
      title={`Send the stored values of ${id} again?`}
      action={`Send the stored values of ${id}`}
      change={() => call('sendAgain', { id })}
      isDestructive
    >
      <Text>
        What the identity provider has not stated since the backup is sent where the travelers differ: people
        are created, activated, archived and changed as in the backup.
      </Text>
    </ConfirmButton>
  );
}

/** What a connection has done last. What is wrong with it is among the conditions. */
export function ConnectionCard({ connection }: { connection: ConnectionHealth }) {
  const { id, people, waiting, lastRequest, lastCall, lastImport, mode, since, pilot } = connection;
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
    {
      label: 'Last import',
      value: lastImport ? (
        <>
          <Time at={lastImport.at} />, {countText(lastImport.read, 'traveler')} read
        </>
      ) : (
        <Dim>none yet</Dim>
      ),
    },
    { label: 'Mode', value: mode === 'live' ? 'live' : <ShadowMode id={name} since={since} pilot={pilot} /> },
  ];
  return (
    <Panel title={`Connection ${id}`}>
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

/** Says that nothing is sent, or for the pilot alone, and leads to what would be. */
function ShadowMode({
  id,
  since,
  pilot,
}: {
  id: string;
  since: string | undefined;
  pilot: string | undefined;
}) {
  return (
    <>
      shadow{' '}
      {since && (
        <>
          since <Time at={since} format={sinceText} />
        </>
      )}
      : {pilot === undefined ? 'nothing is sent' : 'only the pilot is provisioned'}.{' '}
      <ViewLink href={`~/admin/shadow/${id}`} inherit isInText>
        What going live would do
      </ViewLink>
    </>
  );
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
  if (!exchange) return <Dim>none in the last day</Dim>;
  const { at, method, status, error, isFailed } = exchange;
  return (
    <Group gap={6} wrap="wrap">
      <Time at={at} />
      <ViewLink inherit href={`~/admin${to}`}>
        {isFailed && '✗ '}
        {method} {status ?? error ?? 'no response'}
      </ViewLink>
    </Group>
  );
}
