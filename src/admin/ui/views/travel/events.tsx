import { Code } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { TravelEvent } from '../../api-client.ts';
import { Loaded } from '../../components/loading.tsx';
import { OlderButton } from '../../components/older-button.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { api, call } from '../../session.ts';

/** The feed of events, the newest first. */
export function Events() {
  const events = useInfiniteQuery({
    queryKey: ['travel', 'events'],
    queryFn: ({ pageParam }) =>
      call(api.travelService.listTravelEvents({ limit: 50, ...(pageParam && { after: pageParam }) })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });
  return (
    <>
      <Loaded query={events}>
        {({ pages }) => (
          <Rows
            label="Events"
            rows={pages.flatMap((page) => page.events)}
            keyOf={({ id }) => id}
            columns={columns}
            empty="Nothing has happened yet. Each change in the travel service becomes an event, kept for 30 days."
          />
        )}
      </Loaded>
      <OlderButton query={events} />
    </>
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
