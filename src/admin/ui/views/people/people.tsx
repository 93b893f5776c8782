import { Group, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import type { Person } from '../../../contract/people.ts';
import { DownloadButton } from '../../components/download-button.tsx';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import type { Column } from '../../components/rows.tsx';
import { Breakable, Dim, ViewLink } from '../../components/text.tsx';
import { numberText, toWords } from '../../components/texts.ts';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { usePages, useRead } from '../../queries.ts';
import { FilterBar, type Filters, usePeopleFilters } from './filters.tsx';
import { FindingValuesView } from './finding-values.tsx';
import { PersonView } from './person.tsx';
import { ReconcileSelectedButton } from './reconcile-selected.tsx';
import { markOfPerson, peopleCountText } from './texts.ts';

/** The people, the one whom the address names, or the findings by value. */
export function PeopleView() {
  return (
    <Switch>
      <Route path="/:connection/:id">
        {({ connection, id }) => <PersonView key={`${connection} ${id}`} connection={connection} id={id} />}
      </Route>
      <Route path="/findings" component={FindingValuesView} />
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
  const people = list.data?.pages.flatMap((page) => page.people) ?? [];
  const connections = list.data?.pages[0]?.connections ?? [];
  const readMore = () => {
    if (list.hasNextPage && !list.isFetchingNextPage && !list.isError) void list.fetchNextPage();
  };
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
        <PeopleCount filters={filters} />
      </ViewHead>
      <FilterBar filters={filters} sort={sort} change={change} />
      <Loaded query={list} title="The people could not be read">
        {() => (
          <VirtualRows
            label="People"
            rows={people}
            columns={columnsFor(connections)}
            keyOf={keyOf}
            cardOf={(person) => <PersonCard person={person} />}
            sorting={{ sort, onChange: (chosen) => change({ sort: chosen }) }}
            onEnd={readMore}
          />
        )}
      </Loaded>
      {list.data && <EndOfList count={people.length} isMore={list.hasNextPage} isFiltered={isFiltered} />}
    </>
  );
}

function keyOf({ connection, id }: Person): string {
  return `${connection} ${id}`;
}

/** The number of people whom the filters select, and of those with findings. */
function PeopleCount({ filters }: { filters: Filters }) {
  const { data } = useRead('countSelectedPeople', filters, { placeholderData: keepPreviousData });
  return data ? peopleCountText(data) : 'Counting…';
}

function EndOfList({ count, isMore, isFiltered }: { count: number; isMore: boolean; isFiltered: boolean }) {
  const text = isMore
    ? 'Looking further…'
    : count > 0
      ? `${count === 1 ? 'One person' : `${numberText(count)} people`}${isFiltered ? ' with these filters' : ''}.`
      : isFiltered
        ? 'Nobody matches these filters.'
        : 'Nobody yet. People appear here when an identity provider sends its first user: Connect shows which values to paste where.';
  return (
    <Text c="dimmed" size="sm" py="md" role="status">
      {text}
    </Text>
  );
}

/** A link that covers the row, so that a click anywhere in it opens the person. */
function PersonLink({ person }: { person: Person }) {
  const { connection, id, name, userName } = person;
  return (
    <ViewLink className="row-link" href={`/${connection}/${id}`} fw={500}>
      {name || userName || id}
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
      width: isOne ? '20%' : '18%',
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
    { label: 'Findings', width: isOne ? '22%' : '18%', cell: (person) => <FindingsPart person={person} /> },
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
    ...(isOne ? [] : [{ label: 'Connection', width: '9%', cell: ({ connection }: Person) => connection }]),
  ];
}

function FindingsPart({ person }: { person: Person }) {
  const text = findingsText(person);
  if (text === '') return <Dim>–</Dim>;
  return (
    <RowPart person={person}>
      <span title={person.findings.map(({ reason }) => reason).join(' ')}>{text}</span>
    </RowPart>
  );
}

/** The first kind of finding, and the number of the others. */
function findingsText({ findings }: Person): string {
  const [first, ...others] = new Set(findings.map(({ code }) => code));
  if (first === undefined) return '';
  return `⚠ ${toWords(first)}${others.length > 0 ? ` +${others.length}` : ''}`;
}

/** A person in two lines, for a narrow screen. */
function PersonCard({ person }: { person: Person }) {
  const { name, userName, lastModified } = person;
  const second = [name && userName, findingsText(person)].filter(Boolean).join(' · ');
  return (
    <>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text component="div" size="sm" truncate>
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
