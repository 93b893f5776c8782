import { Group, Stack } from '@mantine/core';
import { Route, Switch } from 'wouter';
import type { TravelTrip, TravelTripDetails } from '../../../../operations/travel/travel-data.ts';
import { Loaded } from '../../components/loading.tsx';
import { type Column, PagedRows, Rows } from '../../components/rows.tsx';
import { Dim, Fact, StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { usePages, useRead } from '../../requests/queries.ts';
import { BillingOperations, PartHead, ResourceText, TravelerNames } from './resource.tsx';
import { localText, moneyText, tripMarks } from './texts.ts';

/** The trips, and one of them. */
export function Trips() {
  return (
    <Switch>
      <Route path="/trips/:id">{({ id }) => <Trip id={id} />}</Route>
      <Route component={TripList} />
    </Switch>
  );
}

function TripList() {
  const trips = usePages('listTravelTrips', { limit: 50 });
  return (
    <PagedRows
      query={trips}
      rowsOf={(page) => page.trips}
      label="Trips"
      columns={columns}
      empty="Nobody has looked for a trip yet. The sample data has some hundred of them."
    />
  );
}

const columns: Column<TravelTrip>[] = [
  {
    label: 'Trip',
    cell: ({ id, title }) => <ViewLink href={`/trips/${id}`}>{title}</ViewLink>,
    width: '32%',
  },
  { label: 'Travelers', cell: ({ travelers }) => travelers.map(({ name }) => name).join(', '), width: '22%' },
  {
    label: 'Starts',
    cell: ({ startsAt }) => (startsAt === undefined ? '–' : localText(startsAt)),
    width: '20%',
  },
  { label: 'State', cell: ({ state }) => <StateBadge mark={tripMarks[state]} />, width: '12%' },
  { label: 'Price', cell: ({ prices }) => prices.map(moneyText).join(' + ') || '–', width: '14%' },
];

function Trip({ id }: { id: string }) {
  const trip = useRead('readTravelTrip', { id });
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
            <BillingOperations of="trip" id={id} />
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

const partColumns: Column<Part>[] = [
  {
    label: 'Part',
    cell: ({ kind, from, to, number }) => (
      <>
        {to === undefined || to === from ? from : `${from} → ${to}`}{' '}
        <Dim size="xs">{[kind, number].filter(Boolean).join(' ')}</Dim>
      </>
    ),
    width: '34%',
  },
  { label: 'From', cell: ({ startsAt }) => localText(startsAt), width: '18%' },
  { label: 'Until', cell: ({ endsAt }) => localText(endsAt), width: '18%' },
  { label: 'State', cell: ({ state }) => <StateBadge mark={tripMarks[state]} />, width: '12%' },
  { label: 'Booking', cell: ({ reference }) => reference ?? '–', width: '10%' },
  { label: 'Price', cell: ({ price }) => (price ? moneyText(price) : '–'), width: '10%' },
];
