import { Group, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import type { Person } from '../../../../operations/people/people.ts';
import { DownloadButton } from '../../components/buttons.tsx';
import { Confirm, Dialog, DialogButton } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import type { Column } from '../../components/rows.tsx';
import { Breakable, StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { countText, findingLabel, numberText } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { ScrolledRows } from '../../components/virtual-rows.tsx';
import { call } from '../../requests/api.ts';
import { usePages, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { FilterBar, type Filters, usePeopleFilters } from './filters.tsx';
import { PersonView } from './person.tsx';
import { markOfPerson, peopleCountText } from './texts.ts';

/** The people, or the one whom the address names. */
export function PeopleView() {
  return (
    <Switch>
      <Route path="/:connection/:id">
        {({ connection, id }) => <PersonView key={`${connection} ${id}`} connection={connection} id={id} />}
      </Route>
      <Route path="/" component={PeopleList} />
    </Switch>
  );
}

/** All people, or those that the filters select. */
function PeopleList() {
  const { filters, sort, change } = usePeopleFilters();
  const isFiltered = Object.keys(filters).length > 0;
  // All pages that were read would be read again.
  const list = usePages('listPeople', { ...filters, sort, limit: 200 }, { refetchOnWindowFocus: false });
  return (
    <>
      <ViewHead
        title="People"
        actions={
          <Group gap="xs" justify="flex-end">
            {isFiltered && <ReconcileSelectedButton filters={filters} />}
            <DownloadButton operation="downloadPeople" input={filters} />
          </Group>
        }
      >
        <PeopleCount filters={filters} />{' '}
        <ViewLink isInText href="~/admin/people?state=unmanaged&sort=unchanged">
          Travelers without a user
        </ViewLink>
      </ViewHead>
      <FilterBar filters={filters} sort={sort} change={change} />
      <ScrolledRows
        query={list}
        rowsOf={(page) => page.people}
        title="The people could not be read"
        label="People"
        columns={columnsFor(list.data?.pages[0]?.connections ?? [])}
        keyOf={({ connection, id }) => `${connection} ${id}`}
        cardOf={(person) => <PersonCard person={person} />}
        sorting={{ sort, onChange: (chosen) => change({ sort: chosen }) }}
        endOf={(count) => endText(count, isFiltered)}
      />
    </>
  );
}

/** The number of people whom the filters select, and of those with findings. */
function PeopleCount({ filters }: { filters: Filters }) {
  const { data } = useRead('countSelectedPeople', filters, { placeholderData: keepPreviousData });
  return data ? peopleCountText(data) : 'Counting…';
}

function endText(count: number, isFiltered: boolean): string {
  if (count > 0)
    return `${count === 1 ? 'One person' : `${numberText(count)} people`}${isFiltered ? ' with these filters' : ''}.`;
  if (isFiltered) return 'Nobody matches these filters.';
  return 'Nobody yet. People appear here when an identity provider sends its first user: Connections shows which values to paste where.';
}

/** A link that covers the row, so that a click anywhere in it opens the person. */
function PersonLink({ person }: { person: Person }) {
  const { connection, id, name, userName } = person;
  return (
    <ViewLink className="row-link" href={`/${connection}/${id}`} fw={500}>
      <bdi>{name || userName || id}</bdi>
    </ViewLink>
  );
}

/** A part of the row with a text that appears on hover, which is why it lies above the link of the row: the same link for a pointer. */
function RowPart({ person: { connection, id }, children }: { person: Person; children: ReactNode }) {
  return (
    <ViewLink className="row-part" href={`/${connection}/${id}`} tabIndex={-1} c="inherit" underline="never">
      {children}
    </ViewLink>
  );
}

function columnsFor(connections: string[]): Column<Person>[] {
  const isOne = connections.length <= 1;
  return [
    {
      label: 'Name',
      width: isOne ? '20%' : '17%',
      order: { sort: 'name', direction: 'ascending' },
      cell: (person) => <PersonLink person={person} />,
    },
    {
      label: 'userName',
      width: isOne ? '35%' : '32%',
      order: { sort: undefined, direction: 'ascending' },
      cell: ({ userName }) => <Breakable text={userName} />,
    },
    {
      label: 'State',
      width: '12%',
      order: { sort: 'state', direction: 'ascending' },
      cell: (person) => <StateBadge mark={markOfPerson(person)} />,
    },
    {
      label: 'Findings',
      width: isOne ? '22%' : '18%',
      cell: (person) => findingsText(person) && <FindingsPart person={person} />,
    },
    {
      label: 'Changed',
      width: '11%',
      order: { sort: 'changed', direction: 'descending' },
      cell: (person) => (
        <RowPart person={person}>
          <Time at={person.lastModified} />
        </RowPart>
      ),
    },
    ...(isOne ? [] : [{ label: 'Connection', width: '10%', cell: ({ connection }: Person) => connection }]),
  ];
}

function FindingsPart({ person }: { person: Person }) {
  return (
    <RowPart person={person}>
      <span title={person.findings.map(({ reason }) => reason).join(' ')}>{findingsText(person)}</span>
    </RowPart>
  );
}

/** The first kind of finding, and the number of the others. */
function findingsText({ findings }: Person): string {
  const [first, ...others] = new Set(findings.map(({ code }) => code));
  if (first === undefined) return '';
  return `⚠ ${findingLabel(first)}${others.length > 0 ? ` +${others.length}` : ''}`;
}

/** A person in two lines, for a narrow screen. */
function PersonCard({ person }: { person: Person }) {
  const { name, userName, lastModified } = person;
  const second = [name && userName, findingsText(person)].filter(Boolean).join(' · ');
  return (
    <>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text component="div" truncate>
          <PersonLink person={person} />
        </Text>
        <StateBadge mark={markOfPerson(person)} />
      </Group>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="xs" c="dimmed" truncate>
          {second}
        </Text>
        <Text size="xs" c="dimmed">
          <Time at={lastModified} />
        </Text>
      </Group>
    </>
  );
}

/** A button that reconciles everybody whom the filters select, after a confirmation that states their number. */
export function ReconcileSelectedButton({ filters }: { filters: Filters }) {
  if (!useIsAdmin()) return null;
  return (
    <DialogButton label="Bring these up to date…">
      {(close) => <ReconcileDialog filters={filters} onClose={close} />}
    </DialogButton>
  );
}

function ReconcileDialog({ filters, onClose }: { filters: Filters; onClose: () => void }) {
  const selection = useRead('countSelectedPeople', filters, { staleTime: 0, gcTime: 0 });
  const { people = 0, isMore = false } = selection.data ?? {};
  const isTooMany = isMore || people > MAX_PEOPLE;
  if (people === 0 || isTooMany)
    return (
      <Dialog title="Bring these people up to date?" onClose={onClose}>
        <Loaded query={selection}>
          {() => <Text>{isTooMany ? TOO_MANY : 'Nobody matches these filters.'}</Text>}
        </Loaded>
      </Dialog>
    );
  const who = countText(people, 'person', 'people');
  return (
    <Confirm
      title={`Bring ${who} up to date?`}
      action={`Bring ${who} up to date`}
      change={() => call('reconcilePeople', filters)}
      refreshes={['listPeople', 'countPeople']}
      result={{
        title: 'Attempts are made now',
        content: (done) => (
          <Text role="status">
            {countText(done.people, 'person is', 'people are')} brought up to date now. The list shows who
            waits.
          </Text>
        ),
      }}
      onClose={onClose}
    >
      <Text>
        For each of them the rules are applied again, and what differs is sent to the travel service. Changes
        that must be held are held as always.
      </Text>
    </Confirm>
  );
}

/** The most people whom one request reconciles. */
const MAX_PEOPLE = 10_000;

const TOO_MANY =
  'More than 10,000 people match these filters, or too few of all to be found soon. Choose narrower ones, or use "npx jetbridge people update".';
