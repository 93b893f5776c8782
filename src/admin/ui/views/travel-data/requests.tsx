import { Checkbox, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import { TextFilter } from '../../components/filters.tsx';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Breakable, Time, ViewLink } from '../../components/text.tsx';
import { usePages } from '../../requests/queries.ts';

/** The request log of the travel API, the newest first. Each request leads to its bodies. */
export function Requests() {
  const [isFailed, setFailed] = useState(false);
  const [path, setPath] = useState('');
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
        columns={columns}
        empty={
          isFailed || path
            ? 'No request matches the filters.'
            : 'No integration has called the travel API yet.'
        }
      />
    </>
  );
}

const columns: Column<Exchange>[] = [
  {
    label: 'Request',
    width: '40%',
    cell: ({ position, method, path }) => (
      <ViewLink href={`~/admin/traffic/${position}`}>
        <Breakable text={`${method} ${path}`} />
      </ViewLink>
    ),
  },
  { label: 'When', cell: ({ at }) => <Time at={at} />, width: '14%' },
  {
    label: 'Status',
    cell: ({ status = 0 }) => (
      <Text span {...(status >= 400 && { c: 'var(--mantine-color-error)' })}>
        {status >= 400 && '✗ '}
        {status}
      </Text>
    ),
    width: '10%',
  },
  { label: 'By', cell: ({ user }) => <Breakable text={user ?? 'nobody'} />, width: '28%' },
  { label: 'ms', cell: ({ ms }) => ms, width: '8%' },
];
