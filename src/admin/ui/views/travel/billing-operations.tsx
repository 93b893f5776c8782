import { Text } from '@mantine/core';
import type { TravelBillingOperation } from '../../../contract/travel-data.ts';
import { call } from '../../api.ts';
import { StateBadge } from '../../components/mark.tsx';
import { PagedRows } from '../../components/paged-rows.tsx';
import { Time } from '../../components/time.tsx';
import { usePages } from './pages.ts';
import { TravelerNames, ViewLink } from './resource.tsx';
import { billingMark, moneyText } from './texts.ts';

/** The billing operations of a trip or of an invoice, with a link to the other of both. */
export function BillingOperations(of: { trip: string } | { invoice: string }) {
  const isTrip = 'trip' in of;
  const operations = usePages(['travel', 'operations', of], (page) =>
    'trip' in of
      ? call('listTripOperations', { id: of.trip, ...page })
      : call('listInvoiceOperations', { id: of.invoice, ...page }),
  );
  return (
    <div>
      <Text fw={600} mb="xs">
        Billing operations
      </Text>
      <PagedRows
        query={operations}
        rowsOf={(page) => page.operations}
        label="Billing operations"
        keyOf={({ id }) => id}
        columns={[...columns, isTrip ? toInvoice : toTrip]}
        empty="Nothing was charged or refunded."
      />
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
