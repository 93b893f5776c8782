import { Switch as SwitchField, Text } from '@mantine/core';
import { Route, Switch } from 'wouter';
import type { Person } from '../../../contract/people.ts';
import type { Input } from '../../api.ts';
import { FilterPanel, FilterSelect, TextFilter, useAddressFilter } from '../../components/filter-panel.tsx';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import type { Column } from '../../components/rows.tsx';
import { Dim, ViewLink } from '../../components/text.tsx';
import { numberText, toWords } from '../../components/texts.ts';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { usePages, useRead } from '../../queries.ts';
import { filterChoices } from './choices.ts';
import { PersonView } from './person.tsx';
import { markOfPerson, stateMarks } from './texts.ts';

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

const filterNames = ['connection', 'state', 'finding', 'userName', 'archived'] as const;

/** The filters, which are in the address. */
type Filters = Pick<Input<'listPeople'>, (typeof filterNames)[number]>;

/** Leaves out the values that the API does not have. */
function knownFilters({ state, archived, ...others }: Filters): Filters {
  return {
    ...others,
    ...(state && state in stateMarks && { state }),
    ...(archived === 'true' && { archived }),
  };
}

/** All people, or those that the filters select. */
function PeopleList() {
  const [address, change] = useAddressFilter<Filters>(filterNames);
  const filters = knownFilters(address);
  // All pages that were read would be read again.
  const list = usePages('listPeople', { ...filters, limit: 200 }, { refetchOnWindowFocus: false });
  const people = list.data?.pages.flatMap((page) => page.people) ?? [];
  const connections = list.data?.pages[0]?.connections ?? [];
  const readMore = () => {
    if (list.hasNextPage && !list.isFetchingNextPage && !list.isError) void list.fetchNextPage();
  };
  return (
    <>
      <ViewHead title="People">
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
      {list.data && <EndOfList count={people.length} isMore={list.hasNextPage} filters={filters} />}
    </>
  );
}

function EndOfList({ count, isMore, filters }: { count: number; isMore: boolean; filters: Filters }) {
  const isFiltered = Object.keys(filters).length > 0;
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

function FilterBar({
  filters,
  change,
}: {
  filters: Filters;
  change: ReturnType<typeof useAddressFilter<Filters>>[1];
}) {
  const { data } = useRead('countPeople', {});
  const choices = filterChoices(data?.connections ?? [], filters);
  return (
    <FilterPanel count={Object.keys(filters).length}>
      <TextFilter
        label="userName begins with"
        value={filters.userName}
        onChange={(userName) => change({ userName })}
      />
      <FilterSelect
        label="State"
        placeholder="Any state"
        w={170}
        data={choices.states}
        value={filters.state}
        onChange={(state) => change({ state })}
      />
      <FilterSelect
        label="Finding"
        placeholder="Any finding"
        nothingFoundMessage="Nobody has such a finding."
        w={200}
        searchable
        data={choices.findings}
        value={filters.finding}
        onChange={(finding) => change({ finding })}
      />
      {choices.connections.length > 1 && (
        <FilterSelect
          label="Connection"
          placeholder="All connections"
          w={190}
          data={choices.connections}
          value={filters.connection}
          onChange={(connection) => change({ connection })}
        />
      )}
      <SwitchField
        size="xs"
        label="Only inactive and deleted"
        checked={filters.archived === 'true'}
        onChange={({ currentTarget: { checked } }) => change({ archived: checked ? 'true' : null })}
      />
    </FilterPanel>
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
