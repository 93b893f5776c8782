import { Group, Text } from '@mantine/core';
import { Route, Switch } from 'wouter';
import type { Person } from '../../../contract/people.ts';
import { DownloadButton } from '../../components/download-button.tsx';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import type { Column } from '../../components/rows.tsx';
import { Dim, ViewLink } from '../../components/text.tsx';
import { numberText, toWords } from '../../components/texts.ts';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { usePages } from '../../queries.ts';
import { FilterBar, usePeopleFilters } from './filters.tsx';
import { FindingValuesView } from './finding-values.tsx';
import { PersonView } from './person.tsx';
import { ReconcileSelectedButton } from './reconcile-selected.tsx';
import { markOfPerson } from './texts.ts';

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
  const [filters, change] = usePeopleFilters();
  const isFiltered = Object.keys(filters).length > 0;
  // All pages that were read would be read again.
  const list = usePages('listPeople', { ...filters, limit: 200 }, { refetchOnWindowFocus: false });
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
        Everybody whom an identity provider has sent, or whose traveler was imported.
      </ViewHead>
      <FilterBar filters={filters} change={change} />
      <Loaded query={list} title="The people could not be read">
        {() => (
          <VirtualRows
            label="People"
            rows={people}
            columns={columnsFor(connections)}
            keyOf={({ connection, id }) => `${connection} ${id}`}
            onEnd={readMore}
          />
        )}
      </Loaded>
      {list.data && <EndOfList count={people.length} isMore={list.hasNextPage} isFiltered={isFiltered} />}
    </>
  );
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

function columnsFor(connections: string[]): Column<Person>[] {
  return [
    {
      label: 'Name',
      width: '22%',
      cell: (person) => (
        <ViewLink href={`/${person.connection}/${person.id}`} fw={500}>
          {person.name || person.userName || person.id}
        </ViewLink>
      ),
    },
    { label: 'userName', width: '27%', cell: ({ userName }) => userName },
    {
      label: 'State',
      width: '14%',
      cell: (person) => <StateBadge mark={markOfPerson(person)} />,
    },
    { label: 'Traveler', width: '9%', cell: ({ travelId }) => (travelId === undefined ? '– none' : '✓ yes') },
    { label: 'Findings', width: '18%', cell: findingsCell },
    { label: 'Changed', width: '10%', cell: ({ lastModified }) => <Time at={lastModified} /> },
    ...(connections.length > 1
      ? [{ label: 'Connection', width: '12%', cell: ({ connection }: Person) => connection }]
      : []),
  ];
}

function findingsCell({ findings }: Person) {
  const codes = [...new Set(findings.map(({ code }) => code))];
  return codes.length === 0 ? (
    <Dim>–</Dim>
  ) : (
    <span title={findings.map(({ reason }) => reason).join(' ')}>⚠ {codes.map(toWords).join(', ')}</span>
  );
}
