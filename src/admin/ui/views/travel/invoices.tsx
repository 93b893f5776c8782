import { Group, Stack, Text } from '@mantine/core';
import { Route, Switch } from 'wouter';
import type { TravelInvoice, TravelInvoiceDetails } from '../../../../operations/travel/travel-data.ts';
import { Loaded } from '../../components/loading.tsx';
import { type Column, PagedRows, Rows } from '../../components/rows.tsx';
import { Fact, StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { usePages, useRead } from '../../requests/queries.ts';
import { BillingOperations, PartHead, ResourceText } from './resource.tsx';
import { billingMark, moneyText } from './texts.ts';

/** The invoices, and one of them. */
export function Invoices() {
  return (
    <Switch>
      <Route path="/invoices/:id">{({ id }) => <Invoice id={id} />}</Route>
      <Route component={InvoiceList} />
    </Switch>
  );
}

function InvoiceList() {
  const invoices = usePages('listTravelInvoices', { limit: 50 });
  return (
    <PagedRows
      query={invoices}
      rowsOf={(page) => page.invoices}
      label="Invoices"
      columns={columns}
      empty="Nothing has been invoiced yet. The sample data has some invoices of each month."
    />
  );
}

function numberOf({ id, reference }: TravelInvoice | TravelInvoiceDetails): string {
  return reference ?? id;
}

const columns: Column<TravelInvoice>[] = [
  {
    label: 'Invoice',
    cell: (invoice) => <ViewLink href={`/invoices/${invoice.id}`}>{numberOf(invoice)}</ViewLink>,
    width: '18%',
  },
  { label: 'Customer', cell: ({ customer }) => customer, width: '24%' },
  { label: 'For', cell: ({ description }) => description, width: '18%' },
  { label: 'Status', cell: ({ status }) => <StateBadge mark={billingMark(status)} />, width: '12%' },
  { label: 'Amount', cell: ({ amount }) => moneyText(amount), width: '14%' },
  { label: 'Issued', cell: ({ createdAt }) => <Time at={createdAt} />, width: '14%' },
];

function Invoice({ id }: { id: string }) {
  const invoice = useRead('readTravelInvoice', { id });
  return (
    <>
      <PartHead list="/invoices" label="Invoices">
        {invoice.data ? numberOf(invoice.data) : id}
      </PartHead>
      <Loaded query={invoice}>
        {(data) => (
          <Stack gap="lg">
            <InvoiceFacts invoice={data} />
            <BillingOperations of="invoice" id={id} />
            <MoneyBack label="Refunds" rows={data.refunds} />
            <MoneyBack label="Disputes" rows={data.disputes} />
            <ResourceText resource={data.resource} path={`/api/invoices/${id}`} />
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function InvoiceFacts({ invoice }: { invoice: TravelInvoiceDetails }) {
  const { amount, createdAt, customer, description, status } = invoice;
  return (
    <Group gap="xl" align="flex-start">
      <Fact label="Status">
        <StateBadge mark={billingMark(status)} />
      </Fact>
      <Fact label="Amount">{moneyText(amount)}</Fact>
      <Fact label="Customer">{customer}</Fact>
      <Fact label="For">{description}</Fact>
      <Fact label="Issued">
        <Time at={createdAt} />
      </Fact>
    </Group>
  );
}

type Transfer = TravelInvoiceDetails['refunds'][number];

function MoneyBack({ label, rows }: { label: string; rows: Transfer[] }) {
  if (rows.length === 0) return null;
  return (
    <div>
      <Text size="md" fw={600} mb="xs">
        {label}
      </Text>
      <Rows
        label={label}
        rows={rows}
        columns={[
          { label: 'When', cell: ({ createdAt }) => <Time at={createdAt} />, width: '30%' },
          { label: 'Status', cell: ({ status }) => <StateBadge mark={billingMark(status)} />, width: '30%' },
          { label: 'Amount', cell: ({ amount }) => moneyText(amount), width: '40%' },
        ]}
      />
    </div>
  );
}
