import { Badge, Button, Code, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AuditEntry } from '../api-client.ts';
import { Loaded } from '../components/loading.tsx';
import { Rows } from '../components/rows.tsx';
import { Time } from '../components/time.tsx';
import { ViewHead } from '../components/view-head.tsx';
import { api, call } from '../session.ts';

/** Who changed what, and when. */
export function AuditView() {
  const [typed, setActor] = useState('');
  const [actor] = useDebouncedValue(typed.trim(), 300);
  const entries = useInfiniteQuery({
    queryKey: ['audit', actor],
    queryFn: ({ pageParam }) =>
      call(
        api.audit.listAuditEntries({
          limit: 100,
          ...(pageParam && { before: pageParam }),
          ...(actor && { actor }),
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
  });
  return (
    <>
      <ViewHead
        title="Audit"
        actions={
          <TextInput
            aria-label="Filter by account or token"
            placeholder="Account or token"
            value={typed}
            onChange={(event) => setActor(event.currentTarget.value)}
          />
        }
      >
        Every change that was made here or by a token, the newest first.
      </ViewHead>
      <Loaded query={entries}>
        {({ pages }) => (
          <Rows
            label="Changes"
            rows={pages.flatMap((page) => page.entries)}
            keyOf={({ position }) => String(position)}
            columns={columns}
            empty={actor ? `${actor} has changed nothing.` : 'Nothing has been changed yet.'}
          />
        )}
      </Loaded>
      {entries.hasNextPage && (
        <Group justify="center" mt="md">
          <Button
            variant="default"
            loading={entries.isFetchingNextPage}
            onClick={() => void entries.fetchNextPage()}
          >
            Show older entries
          </Button>
        </Group>
      )}
    </>
  );
}

const columns = [
  { label: 'When', cell: ({ at }: AuditEntry) => <Time at={at} /> },
  {
    label: 'Who',
    cell: ({ actor, actorKind }: AuditEntry) => (actorKind === 'nobody' ? `${actor} (not signed in)` : actor),
  },
  { label: 'From', cell: ({ address }: AuditEntry) => address },
  { label: 'What', cell: ({ action }: AuditEntry) => toWords(action) },
  {
    label: 'Details',
    cell: ({ details }: AuditEntry) =>
      Object.keys(details).length > 0 ? <Code>{detailsText(details)}</Code> : '',
  },
  { label: 'Outcome', cell: ({ status }: AuditEntry) => <Outcome status={status} /> },
];

function Outcome({ status }: { status: number | undefined }) {
  if (status === undefined) return <Badge color="yellow">unknown</Badge>;
  return status < 400 ? <Badge color="green">✓ done</Badge> : <Badge color="red">✗ refused ({status})</Badge>;
}

/** Converts the name of an operation to words, e.g. `createAccount` to `create account`. */
function toWords(action: string): string {
  return action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function detailsText(details: AuditEntry['details']): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
