import { Autocomplete, Select, Text } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { AuditEntry } from '../../../contract/audit.ts';
import { call } from '../../api.ts';
import { FilterPanel } from '../../components/filter-panel.tsx';
import { MomentInput } from '../../components/moment-input.tsx';
import { PagedRows } from '../../components/paged-rows.tsx';
import type { Column } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { Details } from './details.tsx';
import { toWords } from './texts.ts';

/** The filters, as they are in the address. Times are those of the API. */
interface AuditFilter {
  actor?: string;
  action?: string;
  since?: string;
  until?: string;
}

const names = ['actor', 'action', 'since', 'until'] as const;

/** The view of the audit log: each change with its actor and time. The filters are in the address. */
export function AuditView() {
  const [parameters, setParameters] = useSearchParams();
  const filter: AuditFilter = Object.fromEntries(
    names.flatMap((name) => (parameters.get(name) ? [[name, parameters.get(name)]] : [])),
  );
  const setFilter = (name: keyof AuditFilter, value: string | undefined) =>
    setParameters(
      (before) => {
        const others = [...before].filter(([one]) => one !== name);
        return new URLSearchParams(value ? [...others, [name, value]] : others);
      },
      { replace: true },
    );
  const entries = useEntries(filter);
  const count = Object.keys(filter).length;
  return (
    <>
      <ViewHead title="Audit">
        Every change that was made here, by a token or by a command, the newest first.
      </ViewHead>
      <FilterPanel count={count}>
        <Filters filter={filter} onChange={setFilter} />
      </FilterPanel>
      <PagedRows
        query={entries}
        rowsOf={(page) => page.entries}
        older="Show older entries"
        label="Changes"
        keyOf={({ position }) => String(position)}
        columns={columns}
        empty={
          count > 0
            ? 'No change matches the filters.'
            : 'Nothing has been changed yet. Sign-ins, decisions, new mappings and accounts will be listed here.'
        }
      />
    </>
  );
}

function useEntries(filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam }) =>
      call('listAuditEntries', { ...filter, limit: 100, ...(pageParam && { before: pageParam }) }),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
  });
}

function Filters({
  filter: { actor = '', action, since, until },
  onChange,
}: {
  filter: AuditFilter;
  onChange: (name: keyof AuditFilter, value: string | undefined) => void;
}) {
  const [typed, setTyped] = useState(actor);
  const changeActor = useDebouncedCallback((value: string) => onChange('actor', value.trim()), 300);
  const { data } = useQuery({
    queryKey: ['audit choices'],
    queryFn: () => call('listAuditChoices'),
  });
  return (
    <>
      <Autocomplete
        aria-label="Who"
        placeholder="Anybody"
        size="xs"
        clearable
        data={data?.actors ?? []}
        value={typed}
        onChange={(value) => {
          setTyped(value);
          changeActor(value);
        }}
      />
      <Select
        aria-label="What"
        placeholder="Any action"
        size="xs"
        data={(data?.actions ?? []).map((name) => ({ value: name, label: toWords(name) }))}
        value={action ?? null}
        onChange={(chosen) => onChange('action', chosen ?? undefined)}
        searchable
        clearable
      />
      <MomentInput label="From" value={since} onChange={(value) => onChange('since', value)} />
      <MomentInput label="Until" value={until} onChange={(value) => onChange('until', value)} />
    </>
  );
}

const columns: Column<AuditEntry>[] = [
  { label: 'When', cell: ({ at }) => <Time at={at} /> },
  {
    label: 'Who',
    cell: ({ actor, actorKind, status = 500 }) =>
      // The account of a sign-in that succeeded is known.
      actorKind === 'nobody' && status < 400 ? actor : `${actor}${kindTexts[actorKind]}`,
  },
  { label: 'From', cell: ({ address }) => address },
  { label: 'What', cell: ({ action }) => <span style={{ whiteSpace: 'nowrap' }}>{toWords(action)}</span> },
  { label: 'Details', cell: (entry) => <Details entry={entry} /> },
  { label: 'Outcome', cell: ({ status }) => <Outcome status={status} /> },
];

const kindTexts = {
  account: '',
  token: ' (token)',
  command: ' (command)',
  nobody: ' (not signed in)',
} satisfies Record<AuditEntry['actorKind'], string>;

function Outcome({ status }: { status: number | undefined }) {
  const [color, text] =
    status === undefined
      ? (['', '? unknown'] as const)
      : status < 400
        ? (['dimmed', '✓ done'] as const)
        : (['var(--mantine-color-error)', `✗ refused (${status})`] as const);
  return (
    <Text span size="sm" {...(color && { c: color })} style={{ whiteSpace: 'nowrap' }}>
      {text}
    </Text>
  );
}
