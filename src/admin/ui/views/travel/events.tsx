import { Code } from '@mantine/core';
import type { TravelEvent } from '../../../contract/travel.ts';
import { call } from '../../api.ts';
import { PagedRows } from '../../components/paged-rows.tsx';
import { Time } from '../../components/time.tsx';
import { usePages } from './pages.ts';

/** The feed of events, the newest first. */
export function Events() {
  const events = usePages(['travel', 'events'], (page) => call('listTravelEvents', page));
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

const columns = [
  { label: 'When', cell: ({ createdAt }: TravelEvent) => <Time at={createdAt} />, width: '12%' },
  { label: 'Kind', cell: ({ kind }: TravelEvent) => kind, width: '22%' },
  {
    label: 'Resource',
    cell: ({ data }: TravelEvent) => String(data['name'] ?? data['email'] ?? data['id'] ?? ''),
    width: '26%',
  },
  {
    label: 'Changed',
    cell: ({ previousAttributes }: TravelEvent) => (
      <Code>{Object.keys(previousAttributes ?? {}).join(', ') || '–'}</Code>
    ),
    width: '40%',
  },
];
