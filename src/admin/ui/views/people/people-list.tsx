import { Alert, Anchor, Button, Select, Switch, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Person } from '../../../contract/people.ts';
import { call } from '../../api.ts';
import { FilterPanel } from '../../components/filter-panel.tsx';
import { findingText } from '../../components/finding-text.ts';
import { LoadingView } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import type { Column } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { filterChoices } from './choices.ts';
import { markOfPerson, stateMarks } from './texts.ts';

/** The filters, which are the parameters of the address: a link to the view contains them. */
interface Filters {
  connection?: string;
  state?: Person['state'];
  finding?: string;
  userName?: string;
  archived?: 'true';
}

function isState(text: string | null): text is Person['state'] {
  return text !== null && text in stateMarks;
}

/** Reads the filters from the address, and returns a function that changes one of them there. */
function useFilters(): [Filters, (name: keyof Filters, value: string | null) => void] {
  const [parameters, setParameters] = useSearchParams();
  const [connection, state] = [parameters.get('connection'), parameters.get('state')];
  const [finding, userName] = [parameters.get('finding'), parameters.get('userName')];
  const filters: Filters = {
    ...(connection && { connection }),
    ...(isState(state) && { state }),
    ...(finding && { finding }),
    ...(userName && { userName }),
    ...(parameters.get('archived') === 'true' && { archived: 'true' }),
  };
  const change = (name: keyof Filters, value: string | null) =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        if (value) after.set(name, value);
        else after.delete(name);
        return after;
      },
      { replace: true },
    );
  return [filters, change];
}

/** All people, or those that the filters select. */
export function PeopleList() {
  const [filters, change] = useFilters();
  const list = useInfiniteQuery({
    queryKey: ['people', filters],
    queryFn: ({ pageParam }) =>
      call('listPeople', { ...filters, limit: 200, ...(pageParam && { after: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    // All pages that were read would be read again.
    refetchOnWindowFocus: false,
  });
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
      {list.error && <Failure text={list.error.message} onRetry={() => void list.refetch()} />}
      {list.data ? (
        <VirtualRows
          label="People"
          rows={people}
          columns={columnsFor(connections)}
          keyOf={({ connection, id }) => `${connection} ${id}`}
          onEnd={readMore}
        />
      ) : (
        !list.error && <LoadingView />
      )}
      {list.data && <EndOfList count={people.length} isMore={list.hasNextPage} filters={filters} />}
    </>
  );
}

function Failure({ text, onRetry }: { text: string; onRetry: () => void }) {
  return (
    <Alert color="red" role="alert" title="The people could not be read" mb="md">
      {text}
      <Button ml="md" size="compact-xs" variant="default" onClick={onRetry}>
        Try again
      </Button>
    </Alert>
  );
}

function EndOfList({ count, isMore, filters }: { count: number; isMore: boolean; filters: Filters }) {
  const isFiltered = Object.keys(filters).length > 0;
  const text = isMore
    ? 'Looking further…'
    : count > 0
      ? `${count === 1 ? 'One person' : `${count.toLocaleString('en')} people`}${isFiltered ? ' with these filters' : ''}.`
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
  change: (name: keyof Filters, value: string | null) => void;
}) {
  const [userName, setUserName] = useState(filters.userName ?? '');
  const changeSoon = useDebouncedCallback(change, 250);
  const { data } = useQuery({ queryKey: ['people counts'], queryFn: () => call('countPeople') });
  const choices = filterChoices(data?.connections ?? [], filters);
  return (
    <FilterPanel count={Object.keys(filters).length}>
      <TextInput
        aria-label="userName begins with"
        placeholder="userName begins with"
        size="xs"
        value={userName}
        onChange={({ currentTarget: { value } }) => {
          setUserName(value);
          changeSoon('userName', value.trim());
        }}
      />
      <Select
        aria-label="State"
        placeholder="Any state"
        size="xs"
        w={170}
        clearable
        data={choices.states}
        value={filters.state ?? null}
        onChange={(value) => change('state', value)}
      />
      <Select
        aria-label="Finding"
        placeholder="Any finding"
        nothingFoundMessage="Nobody has such a finding."
        size="xs"
        w={200}
        clearable
        searchable
        data={choices.findings}
        value={filters.finding ?? null}
        onChange={(value) => change('finding', value)}
      />
      {choices.connections.length > 1 && (
        <Select
          aria-label="Connection"
          placeholder="All connections"
          size="xs"
          w={190}
          clearable
          data={choices.connections}
          value={filters.connection ?? null}
          onChange={(value) => change('connection', value)}
        />
      )}
      <Switch
        size="xs"
        label="Only inactive and deleted"
        checked={filters.archived === 'true'}
        onChange={({ currentTarget: { checked } }) => change('archived', checked ? 'true' : null)}
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
        <Anchor component={Link} href={`/${person.connection}/${person.id}`} size="sm" fw={500}>
          {person.name || person.userName || person.id}
        </Anchor>
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
    <Text span c="dimmed" size="sm">
      –
    </Text>
  ) : (
    <span title={findings.map(({ reason }) => reason).join(' ')}>⚠ {codes.map(findingText).join(', ')}</span>
  );
}
