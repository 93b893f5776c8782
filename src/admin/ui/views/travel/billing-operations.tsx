import { Text } from '@mantine/core';
import type { TravelBillingOperation } from '../../../contract/travel-data.ts';
import { StateBadge } from '../../components/mark.tsx';
import { PagedRows } from '../../components/paged-rows.tsx';
import type { Column } from '../../components/rows.tsx';
import { Dim, ViewLink } from '../../components/text.tsx';
import { Time } from '../../components/time.tsx';
import { usePages } from '../../queries.ts';
import { TravelerNames } from './resource.tsx';
import { billingMark, moneyText } from './texts.ts';

/** The billing operations of a trip or of an invoice, with a link to the other of both. */
export function BillingOperations({ of, id }: { of: 'trip' | 'invoice'; id: string }) {
  const list = of === 'trip' ? 'listTripOperations' : 'listInvoiceOperations';
  const operations = usePages(list, { id, limit: 50 });
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
        columns={[...columns, of === 'trip' ? toInvoice : toTrip]}
        empty="Nothing was charged or refunded."
      />
    </div>
  );
}

const columns: Column<TravelBillingOperation>[] = [
  {
    label: 'Operation',
    cell: ({ description, operationType, transactionKind }) => (
      <>
        {description ?? operationType} <Dim size="xs">{transactionKind}</Dim>
      </>
    ),
    width: '31%',
  },
  {
    label: 'Traveler',
    cell: ({ traveler }) => (traveler ? <TravelerNames travelers={[traveler]} /> : '–'),
    width: '18%',
  },
  { label: 'When', cell: ({ date }) => <Time at={date} />, width: '19%' },
  {
    label: 'Status',
    cell: ({ status }) => <StateBadge mark={billingMark(status)} />,
    width: '12%',
  },
  { label: 'Amount', cell: ({ amount }) => moneyText(amount), width: '12%' },
];

const toInvoice: Column<TravelBillingOperation> = {
  label: 'Invoice',
  cell: ({ invoiceId }) =>
    invoiceId === undefined ? 'none yet' : <ShowLink href={`/invoices/${invoiceId}`} />,
  width: '8%',
};

const toTrip: Column<TravelBillingOperation> = {
  label: 'Trip',
  cell: ({ tripId }) => (tripId === undefined ? '–' : <ShowLink href={`/trips/${tripId}`} />),
  width: '8%',
};

function ShowLink({ href }: { href: string }) {
  return (
    <ViewLink href={href} isInText>
      Show
    </ViewLink>
  );
}
