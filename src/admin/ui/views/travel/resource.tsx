import { Code, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { TravelBillingOperation, Traveler } from '../../../../operations/travel/travel-data.ts';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Dim, personHref, StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { usePages } from '../../requests/queries.ts';
import { billingMark, moneyText } from './texts.ts';

/** The way back to a list, and the name of one of its resources. */
export function PartHead({ list, label, children }: { list: string; label: string; children: ReactNode }) {
  return (
    <>
      <ViewLink href={list}>← {label}</ViewLink>
      <Title order={2} size="h4" mb="md" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Title>
    </>
  );
}

/** The names of travelers. A person whom an identity provider sends is a link. */
export function TravelerNames({ travelers }: { travelers: Traveler[] }) {
  return travelers.map(({ id, name, person }, index) => (
    <span key={id}>
      {index > 0 && ', '}
      {person ? (
        <ViewLink isInText href={personHref(person.connection, person.id)}>
          {name}
        </ViewLink>
      ) : (
        name
      )}
    </span>
  ));
}

/** A resource as the travel API answers it. */
export function ResourceText({ resource, path }: { resource: object; path: string }) {
  return (
    <details>
      <Text component="summary" style={{ cursor: 'pointer', overflowWrap: 'anywhere' }}>
        As GET {path} answers it
      </Text>
      <Code block mt="xs" tabIndex={0}>
        {JSON.stringify(resource, null, 2)}
      </Code>
    </details>
  );
}

/** The billing operations of a trip or of an invoice, with a link to the other of both. */
export function BillingOperations({ of, id }: { of: 'trip' | 'invoice'; id: string }) {
  const list = of === 'trip' ? 'listTripOperations' : 'listInvoiceOperations';
  const operations = usePages(list, { id, limit: 50 });
  return (
    <div>
      <Text size="md" fw={600} mb="xs">
        Billing operations
      </Text>
      <PagedRows
        query={operations}
        rowsOf={(page) => page.operations}
        label="Billing operations"
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
  { label: 'Status', cell: ({ status }) => <StateBadge mark={billingMark(status)} />, width: '12%' },
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
