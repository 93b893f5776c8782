import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { TravelBillingOperation } from '../../api-client.ts';
import { Loaded } from '../../components/loading.tsx';
import { StateBadge } from '../../components/mark.tsx';
import { OlderButton } from '../../components/older-button.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { api, call } from '../../session.ts';
import { TravelerNames, ViewLink } from './resource.tsx';
import { billingMark, moneyText } from './texts.ts';

/** The billing operations of a trip or of an invoice, with a link to the other of both. */
export function BillingOperations(of: { trip: string } | { invoice: string }) {
  const isTrip = 'trip' in of;
  const operations = useInfiniteQuery({
    queryKey: ['travel', 'operations', of],
    queryFn: ({ pageParam }) => {
      const page = { limit: 50, ...(pageParam && { after: pageParam }) };
      return call(
        'trip' in of
          ? api.travelService.listTripOperations(encodeURIComponent(of.trip), page)
          : api.travelService.listInvoiceOperations(encodeURIComponent(of.invoice), page),
      );
    },
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });
  return (
    <div>
      <Text fw={600} mb="xs">
        Billing operations
      </Text>
      <Loaded query={operations}>
        {({ pages }) => (
          <Rows
            label="Billing operations"
            rows={pages.flatMap((page) => page.operations)}
            keyOf={({ id }) => id}
            columns={[...columns, isTrip ? toInvoice : toTrip]}
            empty="Nothing was charged or refunded."
          />
        )}
      </Loaded>
      <OlderButton query={operations} />
    </div>
  );
}

const columns = [
  {
    label: 'Operation',
    cell: ({ description, operationType, transactionKind }: TravelBillingOperation) => (
      <>
        {description ?? operationType}{' '}
        <Text span size="xs" c="dimmed">
          {transactionKind}
        </Text>
      </>
    ),
    width: '31%',
  },
  {
    label: 'Traveler',
    cell: ({ traveler }: TravelBillingOperation) =>
      traveler ? <TravelerNames travelers={[traveler]} /> : '–',
    width: '18%',
  },
  { label: 'When', cell: ({ date }: TravelBillingOperation) => <Time at={date} />, width: '19%' },
  {
    label: 'Status',
    cell: ({ status }: TravelBillingOperation) => <StateBadge mark={billingMark(status)} />,
    width: '12%',
  },
  { label: 'Amount', cell: ({ amount }: TravelBillingOperation) => moneyText(amount), width: '12%' },
];

const toInvoice = {
  label: 'Invoice',
  cell: ({ invoiceId }: TravelBillingOperation) =>
    invoiceId === undefined ? (
      'none yet'
    ) : (
      <ViewLink href={`/invoices/${invoiceId}`} isInText>
        Show
      </ViewLink>
    ),
  width: '8%',
};

const toTrip = {
  label: 'Trip',
  cell: ({ tripId }: TravelBillingOperation) =>
    tripId === undefined ? (
      '–'
    ) : (
      <ViewLink href={`/trips/${tripId}`} isInText>
        Show
      </ViewLink>
    ),
  width: '8%',
};
