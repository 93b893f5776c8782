import { Code } from '@mantine/core';
import type { TravelEvent } from '../../../contract/travel.ts';
import { PagedRows } from '../../components/paged-rows.tsx';
import type { Column } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { usePages } from '../../queries.ts';

/** The feed of events, the newest first. */
export function Events() {
  const events = usePages('listTravelEvents', { limit: 50 });
  return (
    <PagedRows
      query={events}
      rowsOf={(page) => page.events}
      label="Events"
      keyOf={({ id }) => id}
      columns={columns}
      empty="Nothing has happened yet. Each change in the travel service becomes an event, kept for 30 days."
    />
  );
}

const columns: Column<TravelEvent>[] = [
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
