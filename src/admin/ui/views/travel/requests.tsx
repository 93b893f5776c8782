import { Badge, Button, Checkbox, Code, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import type { TravelEvent } from '../../../../operations/travel/travel-service.ts';
import { Dialog } from '../../components/dialogs.tsx';
import { TextFilter } from '../../components/filters.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Breakable, LoggedBody, Time } from '../../components/text.tsx';
import { usePages, useRead } from '../../requests/queries.ts';

/** The request log of the travel API, the newest first. */
export function Requests() {
  const [isFailed, setFailed] = useState(false);
  const [path, setPath] = useState('');
  const [shown, setShown] = useState<Exchange>();
  const filter = {
    ...(isFailed && { status: 'failed' }),
    ...(path && { path: path.startsWith('/') ? path : `/${path}` }),
  };
  const requests = usePages(
    'listExchanges',
    { direction: 'api', limit: 50, ...filter },
    { cursor: 'before' },
  );
  return (
    <>
      <Group mb="sm">
        <TextFilter label="Filter by path" placeholder="/api/users" value={path} onChange={setPath} />
        <Checkbox
          label="Failed only"
          checked={isFailed}
          onChange={(event) => setFailed(event.currentTarget.checked)}
        />
      </Group>
      <PagedRows
        query={requests}
        rowsOf={(page) => page.exchanges}
        label="Requests"
        keyOf={({ position }) => position}
        columns={requestColumns(setShown)}
        empty={
          isFailed || path
            ? 'No request matches the filters.'
            : 'No integration has called the travel API yet.'
        }
      />
      {shown && <Bodies exchange={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

function requestColumns(onShow: (exchange: Exchange) => void): Column<Exchange>[] {
  return [
    { label: 'When', cell: ({ at }) => <Time at={at} />, width: '12%' },
    { label: 'Status', cell: ({ status = 0 }) => <Status status={status} />, width: '10%' },
    {
      label: 'Request',
      cell: ({ method, path }) => (
        <Text span style={{ overflowWrap: 'anywhere' }}>
          <Breakable text={`${method} ${path}`} />
        </Text>
      ),
      width: '36%',
    },
    { label: 'By', cell: ({ user }) => <Breakable text={user ?? 'nobody'} />, width: '26%' },
    { label: 'ms', cell: ({ ms }) => ms, width: '6%' },
    {
      label: 'Bodies',
      cell: (request) => (
        <Button size="compact-xs" aria-haspopup="dialog" onClick={() => onShow(request)}>
          Show
        </Button>
      ),
      width: '10%',
    },
  ];
}

function Status({ status }: { status: number }) {
  const isFailure = status >= 400;
  return (
    <Badge color={isFailure ? 'red' : 'green'} variant="light" c="var(--mantine-color-text)">
      {isFailure ? '✗' : '✓'} {status}
    </Badge>
  );
}

function Bodies({ exchange, onClose }: { exchange: Exchange; onClose: () => void }) {
  const { position, method, path, requestId, credential } = exchange;
  const detail = useRead('getExchange', { id: position });
  return (
    <Dialog onClose={onClose} size="xl" title={`${method} ${path}`}>
      <Loaded query={detail}>
        {({ request, response }) => (
          <Stack gap="xs">
            <Text c="dimmed">
              Request id {requestId ?? '-'}
              {credential && `, credential ${credential}`}
            </Text>
            <LoggedBody title="Request" body={request.body} />
            <LoggedBody title="Response" body={response.body} />
          </Stack>
        )}
      </Loaded>
    </Dialog>
  );
}

/** The feed of events, the newest first. */
export function Events() {
  const events = usePages('listTravelEvents', { limit: 50 });
  return (
    <PagedRows
      query={events}
      rowsOf={(page) => page.events}
      label="Events"
      columns={eventColumns}
      empty="Nothing has happened yet. Each change in the travel service becomes an event, kept for 30 days."
    />
  );
}

const eventColumns: Column<TravelEvent>[] = [
  { label: 'When', cell: ({ createdAt }) => <Time at={createdAt} />, width: '12%' },
  { label: 'Kind', cell: ({ kind }) => kind, width: '22%' },
  {
    label: 'Resource',
    cell: ({ data }) => String(data['name'] ?? data['email'] ?? data['id'] ?? ''),
    width: '26%',
  },
  {
    label: 'Changed',
    cell: ({ previousAttributes }) => <Code>{Object.keys(previousAttributes ?? {}).join(', ') || '–'}</Code>,
    width: '40%',
  },
];
