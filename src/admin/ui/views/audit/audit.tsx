import { Group, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { AuditEntry } from '../../api-client.ts';
import { Loaded } from '../../components/loading.tsx';
import { OlderButton } from '../../components/older-button.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { api, call } from '../../session.ts';
import { Details } from './details.tsx';
import { toWords } from './texts.ts';

/** Who changed what, and when. The filters are in the address. */
export function AuditView() {
  const [parameters, setParameters] = useSearchParams();
  const [actor, action] = [parameters.get('actor') ?? '', parameters.get('action') ?? ''];
  const setFilter = (name: string, value: string) =>
    setParameters(
      (before) => {
        const others = [...before].filter(([one]) => one !== name);
        return new URLSearchParams(value === '' ? others : [...others, [name, value]]);
      },
      { replace: true },
    );
  const entries = useEntries({ actor, action });
  return (
    <>
      <ViewHead title="Audit" actions={<Filters actor={actor} action={action} onChange={setFilter} />}>
        Every change that was made here, by a token or by a command, the newest first.
      </ViewHead>
      <Loaded query={entries}>
        {({ pages }) => (
          <Rows
            label="Changes"
            rows={pages.flatMap((page) => page.entries)}
            keyOf={({ position }) => String(position)}
            columns={columns}
            empty={
              actor || action
                ? 'No change matches the filter.'
                : 'Nothing has been changed yet. Sign-ins, decisions, new mappings and accounts will be listed here.'
            }
          />
        )}
      </Loaded>
      <OlderButton query={entries}>Show older entries</OlderButton>
    </>
  );
}

function useEntries({ actor, action }: { actor: string; action: string }) {
  return useInfiniteQuery({
    queryKey: ['audit', actor, action],
    queryFn: ({ pageParam }) =>
      call(
        api.audit.listAuditEntries({
          limit: 100,
          ...(pageParam && { before: pageParam }),
          ...(actor && { actor }),
          ...(action && { action }),
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
  });
}

function Filters({
  actor,
  action,
  onChange,
}: {
  actor: string;
  action: string;
  onChange: (name: string, value: string) => void;
}) {
  const [typed, setTyped] = useState(actor);
  const changeActor = useDebouncedCallback((value: string) => onChange('actor', value.trim()), 300);
  const actions = useQuery({ queryKey: ['audit-actions'], queryFn: readActions, staleTime: Infinity });
  return (
    <Group gap="xs">
      <TextInput
        aria-label="Filter by account or token"
        placeholder="Account or token"
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          changeActor(event.currentTarget.value);
        }}
      />
      <Select
        aria-label="Filter by action"
        placeholder="Any action"
        data={(actions.data ?? []).map((name) => ({ value: name, label: toWords(name) }))}
        value={action || null}
        onChange={(chosen) => onChange('action', chosen ?? '')}
        searchable
        clearable
      />
    </Group>
  );
}

/** The names of the operations that the audit log records, from the description of the API. */
async function readActions(): Promise<string[]> {
  const response = await fetch('/admin/api/openapi.json');
  const { paths }: { paths: Record<string, Record<string, DescribedOperation>> } = await response.json();
  return Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter((operation) => operation['x-recorded'])
    .map(({ operationId }) => operationId)
    .sort();
}

interface DescribedOperation {
  operationId: string;
  'x-recorded'?: boolean;
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
      ? ([undefined, '? unknown'] as const)
      : status < 400
        ? (['dimmed', '✓ done'] as const)
        : (['var(--mantine-color-error)', `✗ refused (${status})`] as const);
  return (
    <Text span size="sm" c={color} style={{ whiteSpace: 'nowrap' }}>
      {text}
    </Text>
  );
}
