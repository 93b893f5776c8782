import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Route, Switch } from 'wouter';
import type { TravelTrip, TravelTripDetails } from '../../../contract/travel-data.ts';
import { call } from '../../api.ts';
import { Fact } from '../../components/fact.tsx';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import { PagedRows } from '../../components/paged-rows.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { BillingOperations } from './billing-operations.tsx';
import { usePages } from './pages.ts';
import { PartHead, ResourceText, TravelerNames, ViewLink } from './resource.tsx';
import { localText, moneyText, tripMarks } from './texts.ts';

/** The trips, and one of them. */
export function Trips() {
  return (
    <Switch>
      <Route path="/trips/:id">{({ id }) => <Trip id={id} />}</Route>
      <Route>
        <TripList />
      </Route>
    </Switch>
  );
}

function TripList() {
  const trips = usePages(['travel', 'trips'], (page) => call('listTravelTrips', page));
  return (
    <PagedRows
      query={trips}
      rowsOf={(page) => page.trips}
      label="Trips"
      keyOf={({ id }) => id}
      columns={columns}
      empty="Nobody has looked for a trip yet. The sample data has some hundred of them."
    />
  );
}

const columns = [
  {
    label: 'Trip',
    cell: ({ id, title }: TravelTrip) => <ViewLink href={`/trips/${id}`}>{title}</ViewLink>,
    width: '32%',
  },
  {
    label: 'Travelers',
    cell: ({ travelers }: TravelTrip) => travelers.map(({ name }) => name).join(', '),
    width: '22%',
  },
  {
    label: 'Starts',
    cell: ({ startsAt }: TravelTrip) => (startsAt === undefined ? '–' : localText(startsAt)),
    width: '20%',
  },
  { label: 'State', cell: ({ state }: TravelTrip) => <StateBadge mark={tripMarks[state]} />, width: '12%' },
  {
    label: 'Price',
    cell: ({ prices }: TravelTrip) => prices.map(moneyText).join(' + ') || '–',
    width: '14%',
  },
];

function Trip({ id }: { id: string }) {
  const trip = useQuery({
    queryKey: ['travel', 'trip', id],
    queryFn: () => call('readTravelTrip', { id }),
  });
  return (
    <>
      <PartHead list="/trips" label="Trips">
        {trip.data?.title ?? id}
      </PartHead>
      <Loaded query={trip}>
        {(data) => (
          <Stack gap="lg">
            <TripFacts trip={data} />
            <Rows
              label="Parts of the trip"
              rows={data.parts}
              keyOf={({ key }) => key}
              columns={partColumns}
              empty="The search has found nothing."
            />
            <BillingOperations trip={id} />
            <ResourceText resource={data.resource} path={`/api/trip-projects/${id}`} />
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function TripFacts({ trip }: { trip: TravelTripDetails }) {
  const { approvalStatus, createdAt, prices, startsAt, state, travelers } = trip;
  return (
    <Group gap="xl" align="flex-start">
      <Fact label="State">
        <StateBadge mark={tripMarks[state]} />
      </Fact>
      <Fact label="Travelers">
        <TravelerNames travelers={travelers} />
      </Fact>
      {startsAt !== undefined && <Fact label="Starts">{localText(startsAt)}</Fact>}
      {prices.length > 0 && <Fact label="Price">{prices.map(moneyText).join(' + ')}</Fact>}
      {approvalStatus !== undefined && (
        <Fact label="Approval">{approvalTexts[approvalStatus] ?? approvalStatus}</Fact>
      )}
      <Fact label="Searched">
        <Time at={createdAt} />
      </Fact>
    </Group>
  );
}

const approvalTexts: Record<string, string> = {
  approved: 'approved',
  awaitApproval: 'waits for approval',
  bookingAllowed: 'not needed',
  declined: 'declined',
};

type Part = TravelTripDetails['parts'][number];

const partColumns = [
  {
    label: 'Part',
    cell: ({ kind, from, to, number }: Part) => (
      <>
        {to === undefined || to === from ? from : `${from} → ${to}`}{' '}
        <Text span size="xs" c="dimmed">
          {[kind, number].filter(Boolean).join(' ')}
        </Text>
      </>
    ),
    width: '34%',
  },
  { label: 'From', cell: ({ startsAt }: Part) => localText(startsAt), width: '18%' },
  { label: 'Until', cell: ({ endsAt }: Part) => localText(endsAt), width: '18%' },
  { label: 'State', cell: ({ state }: Part) => <StateBadge mark={tripMarks[state]} />, width: '12%' },
  { label: 'Booking', cell: ({ reference }: Part) => reference ?? '–', width: '10%' },
  { label: 'Price', cell: ({ price }: Part) => (price ? moneyText(price) : '–'), width: '10%' },
];
