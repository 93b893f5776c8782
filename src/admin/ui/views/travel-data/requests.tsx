import { Checkbox, Group } from '@mantine/core';
import { useState } from 'react';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import { TextFilter } from '../../components/filters.tsx';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Breakable } from '../../components/text.tsx';
import { usePages } from '../../requests/queries.ts';
import { columns as trafficColumns } from '../traffic/columns.tsx';

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

/** Those of Traffic, and the user whose key was sent. */
const columns: Column<Exchange>[] = [
  ...trafficColumns.filter(({ label }) => ['When', 'Request', 'Status', 'Duration'].includes(label)),
  { label: 'By', cell: ({ user }) => <Breakable text={user ?? 'nobody'} />, width: '28%' },
];
