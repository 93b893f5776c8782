import { Alert, Anchor, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { Route, Switch } from 'wouter';
import { fieldLabel, shownText } from '../../../../model/value-texts.ts';
import type { ShadowPerson } from '../../../../operations/connections/shadow.ts';
import { modeText } from '../../../../provisioning/shadow/mode-texts.ts';
import { outcomeTexts, pilotText } from '../../../../provisioning/shadow/shadow-texts.ts';
import { DownloadButton } from '../../components/buttons.tsx';
import { FilterPanel, FilterSelect, useAddressFilter } from '../../components/filters.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Breakable, Dim, PersonName, StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { countText, type Mark, numberText, sinceText } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import type { Result } from '../../requests/api.ts';
import { usePages, useRead } from '../../requests/queries.ts';
import { Panel } from '../overview/panel.tsx';
import { useOverview } from '../overview/state.ts';
import { GoLiveButton, ModeButton } from './mode.tsx';
import { PilotButton } from './pilot.tsx';

/** The view Shadow: the modes of the connections, and the report of each one in shadow mode. */
export function ShadowView() {
  return (
    <Switch>
      <Route path="/:connection">
        {({ connection }) => <Report key={connection} connection={connection} />}
      </Route>
      <Route path="/" component={Modes} />
    </Switch>
  );
}

function Modes() {
  const overview = useOverview();
  return (
    <>
      <ViewHead title="Shadow report">
        In shadow mode a connection plans everything and sends nothing. Its report says what going live would
        do.
      </ViewHead>
      <Loaded query={overview}>
        {({ connections }) => (
          <Stack>
            {connections.map(({ id, mode, since, pilot }) => (
              <Panel key={id} title={id} action={<ModeButton id={id} mode={mode} />}>
                <Text>
                  <b>{mode}</b>
                  {since && (
                    <>
                      {' '}
                      since <Time at={since} format={sinceText} />
                    </>
                  )}
                  : {modeText({ mode, pilot })}
                </Text>
                {mode === 'shadow' && (
                  <ViewLink href={`/${encodeURIComponent(id)}`}>What going live would do</ViewLink>
                )}
              </Panel>
            ))}
          </Stack>
        )}
      </Loaded>
    </>
  );
}

type Sums = Result<'summarizeShadow'>;

/** The interval at which the report is read while it is being made, in milliseconds. */
const PLANNING_MS = 3_000;

function Report({ connection }: { connection: string }) {
  const sums = useRead(
    'summarizeShadow',
    { id: connection },
    {
      staleTime: 60_000,
      // Another pilot is followed within seconds.
      refetchInterval: ({ state }) => (state.data?.people.unplanned ? PLANNING_MS : false),
    },
  );
  const [done, setDone] = useState<string>();
  if (done !== undefined)
    return (
      <>
        <ViewHead title={connection} back={{ href: '/', label: 'Shadow report' }} />
        <Alert color="gray" role="status">
          ✓ {done}
        </Alert>
      </>
    );
  return (
    <>
      <ViewHead
        title={`What going live would do: ${connection}`}
        back={{ href: '/', label: 'Shadow report' }}
        actions={
          <Group gap="xs">
            <DownloadButton operation="downloadShadow" input={{ id: connection }} />
            <ModeButton id={connection} mode="shadow" />
            {sums.data && <PilotButton connection={connection} pilot={sums.data.pilot} />}
            {sums.data && <GoLiveButton connection={connection} sums={sums.data} onDone={setDone} />}
          </Group>
        }
      >
        {sums.data && (
          <>
            In shadow mode since <Time at={sums.data.since} format={sinceText} />
            {sums.data.pilot && `, with a pilot: ${pilotText(sums.data.people)}`}.{' '}
            {modeText({ mode: 'shadow', pilot: sums.data.pilot })}
          </>
        )}
      </ViewHead>
      <Loaded query={sums}>{(data) => <SumPanels sums={data} connection={connection} />}</Loaded>
      <People connection={connection} isPlanning={Boolean(sums.data?.people.unplanned)} />
    </>
  );
}

/** The outcomes of going live for a person, in the order of the report. */
const outcomeMarks: Record<ShadowPerson['outcome'], Mark> = {
  live: { symbol: '●', label: 'live' },
  create: { symbol: '+', label: 'create' },
  link: { symbol: '→', label: 'link' },
  change: { symbol: '~', label: 'change', color: 'blue' },
  reactivate: { symbol: '↑', label: 'activate', color: 'yellow' },
  end: { symbol: '↓', label: 'archive', color: 'red' },
  leftOut: { symbol: '!', label: 'left out', color: 'yellow' },
  same: { symbol: '✓', label: 'same' },
  unplanned: { symbol: '…', label: 'not planned' },
  notSent: { symbol: '–', label: 'not sent' },
};

const outcomes = Object.keys(outcomeMarks) as ShadowPerson['outcome'][]; // The table has all outcomes and nothing else.

function SumPanels({ sums: { people, fields, names }, connection }: { sums: Sums; connection: string }) {
  const changed = Object.entries(fields);
  return (
    <>
      {people.unplanned > 0 && (
        <Alert color="yellow" role="status" mb="md">
          Planning runs: {countText(people.unplanned, 'person is', 'people are')} not planned yet.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} mb="md">
        <Panel title="People">
          <Table aria-label="People by what happens" withRowBorders={false} verticalSpacing={2}>
            <Table.Tbody>
              {outcomes.map(
                (outcome) =>
                  Boolean(people[outcome]) && (
                    <Table.Tr key={outcome}>
                      <Table.Td w={80} ta="right">
                        <ViewLink href={`/${encodeURIComponent(connection)}?outcome=${outcome}`}>
                          {numberText(people[outcome])}
                        </ViewLink>
                      </Table.Td>
                      <Table.Td>{outcomeTexts[outcome]}</Table.Td>
                    </Table.Tr>
                  ),
              )}
            </Table.Tbody>
          </Table>
        </Panel>
        <Panel title="Fields of travelers that exist">
          {changed.length === 0 && <Text>None of them changes.</Text>}
          {changed.map(([field, count]) => (
            <Group key={field} justify="space-between">
              <Text>{fieldLabel(field, names)}</Text>
              <Text>{numberText(count)}</Text>
            </Group>
          ))}
        </Panel>
      </SimpleGrid>
    </>
  );
}

type Filters = { outcome?: ShadowPerson['outcome'] };

function People({ connection, isPlanning }: { connection: string; isPlanning: boolean }) {
  const [address, change] = useAddressFilter<Filters>(['outcome']);
  const outcome = address.outcome && address.outcome in outcomeMarks ? address.outcome : undefined;
  const input = { id: connection, ...(outcome && { outcome }), limit: 100 };
  const list = usePages('listShadowPeople', input, { refetchInterval: isPlanning && PLANNING_MS });
  const names = Object.assign({}, ...(list.data?.pages.map((page) => page.names) ?? []));
  return (
    <>
      <FilterPanel count={outcome ? 1 : 0}>
        <FilterSelect
          label="What happens"
          placeholder="Anything"
          w={200}
          data={outcomes.map((value) => ({ value, label: outcomeMarks[value].label }))}
          value={outcome}
          onChange={(value) => change({ outcome: value })}
        />
      </FilterPanel>
      <PagedRows
        query={list}
        rowsOf={(page) => page.people}
        older="Show more"
        label="People"
        columns={columns(names)}
        empty={outcome ? 'Nobody so far.' : 'The identity provider has not sent anybody yet.'}
      />
    </>
  );
}

function columns(names: Record<string, string>): Column<ShadowPerson>[] {
  return [
    { label: 'Person', width: '30%', cell: (person) => <PersonName {...person} /> },
    {
      label: 'What happens',
      width: '13%',
      cell: ({ outcome }) => <StateBadge mark={outcomeMarks[outcome]} />,
    },
    {
      label: 'Fields',
      width: '25%',
      cell: ({ fields }) => fields.length > 0 && <Fields fields={fields} names={names} />,
    },
    {
      label: 'Why',
      width: '23%',
      cell: ({ findings }) => findings.map(({ reason }) => reason).join(' '),
    },
  ];
}

/** The number of fields of a person that are shown at first. */
const FIRST_FIELDS = 3;

function Fields({ fields, names }: { fields: ShadowPerson['fields']; names: Record<string, string> }) {
  const [isAll, setAll] = useState(false);
  return (
    <Stack gap={2}>
      {fields.slice(0, isAll ? fields.length : FIRST_FIELDS).map(({ field, before, after }) => (
        <Text key={field} component="div">
          <Dim>{fieldLabel(field, names)}: </Dim>
          <Breakable text={`${shownText(before, names)} → ${shownText(after, names)}`} />
        </Text>
      ))}
      {fields.length > FIRST_FIELDS && !isAll && (
        <Anchor component="button" w="fit-content" onClick={() => setAll(true)}>
          and {fields.length - FIRST_FIELDS} more
        </Anchor>
      )}
    </Stack>
  );
}
