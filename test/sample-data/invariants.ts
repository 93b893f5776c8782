import { mergePatch } from '../../src/travel/changes.ts';
import type { JsonObject } from '../../src/travel/json.ts';

/** A resource in response form, with the fields that the invariants need. */
export interface Answered extends JsonObject {
  id: string;
  type: string;
}

/** A billing operation, invoice, refund or dispute in response form. */
interface Billed extends Answered {
  status: string;
  amount: { currency: string; total: number; tax?: number; base?: number };
}

/** Everything that the API returns about trips and billing. */
export interface View {
  trips: Answered[];
  operations: Billed[];
  invoices: Billed[];
  refunds: Billed[];
  disputes: Billed[];
}

/** Checks the invariants of a view; expected values are derived from scratch. */
export function checkView(view: View): void {
  for (const operation of view.operations) {
    expect([operation.id, operation.status]).toEqual([operation.id, statusOf(operation, view)]);
    const { base, tax } = operation.amount;
    if (base !== undefined && tax !== undefined) {
      expect(Math.round((base + tax) * 100)).toBe(cents(operation));
    }
  }
  for (const invoice of view.invoices) checkInvoice(invoice, view);
  for (const refund of view.refunds) checkRefund(refund, view);
  for (const dispute of view.disputes) checkDispute(dispute, view);
  checkGivenBack(view);
  checkCharges(view);
  for (const trip of view.trips) checkBookings(trip, view);
}

/** The table of the specification, "Derivation of the billing operation status". */
function statusOf(operation: Billed, { operations, invoices, refunds, disputes }: View): unknown {
  const byId = (all: Billed[], id: unknown) => all.find((one) => one.id === id);
  switch (operation['transactionKind']) {
    case 'purchase':
      return byId(invoices, operation['invoiceId'])?.status ?? 'delayed';
    case 'dispute':
      return byId(disputes, operation['disputeId'])?.status;
    default: {
      if (operation['refundId'] === undefined) return 'succeeded';
      const purchase = byId(operations, operation['purchaseBillingOperationId']);
      const invoice = byId(invoices, purchase?.['invoiceId']);
      if (invoice?.status === 'open') return 'delayed';
      return byId(refunds, operation['refundId'])?.status;
    }
  }
}

/** "An invoice aggregates one or several purchase and refund billing operations." */
function checkInvoice(invoice: Billed, { operations }: View): void {
  const own = operations.filter((one) => one['invoiceId'] === invoice.id);
  const sum = own.reduce((total, one) => total + signed(one), 0);
  expect([invoice.id, cents(invoice), invoice['billingOperationsCount']]).toEqual([
    ...[invoice.id, sum],
    own.length,
  ]);
  expect(own.length).toBeGreaterThan(0);
  expect(sum).toBeGreaterThanOrEqual(0);
  for (const one of own) {
    expect(one.amount.currency).toBe(invoice.amount.currency);
    expect(one['billingProfileId']).toBe(invoice['billingProfileId']);
    expect(['purchase', 'refund']).toContain(one['transactionKind']);
    const type = String(one['operationType']);
    expect(invoice['kind']).toBe(['other', 'subscription'].includes(type) ? type : 'booking');
  }
}

function signed(operation: Billed): number {
  return operation['transactionKind'] === 'purchase' ? cents(operation) : -cents(operation);
}

/** A refund belongs to one operation and is delayed until its invoice is paid. */
function checkRefund(refund: Billed, { operations, invoices }: View): void {
  const own = operations.filter(
    (one) => one['refundId'] === refund.id && one['transactionKind'] === 'refund',
  );
  const purchase = operations.find(({ id }) => id === own[0]?.['purchaseBillingOperationId']);
  const invoice = invoices.find(({ id }) => id === refund['invoiceId']);
  expect(own.map(({ amount }) => amount)).toEqual([refund.amount]);
  expect(purchase?.['invoiceId']).toBe(refund['invoiceId']);
  const isWaiting = invoice?.status === 'open' || invoice?.status === 'uncollectible';
  expect([refund.id, refund.status === 'delayed']).toEqual([refund.id, isWaiting]);
  if (invoice?.status === 'void') expect(refund.status).toBe('canceled');
}

function checkDispute(dispute: Billed, { operations, invoices }: View): void {
  const own = operations.filter((one) => one['disputeId'] === dispute.id);
  expect(own.map(({ amount, transactionKind }) => [amount, transactionKind])).toEqual([
    [dispute.amount, 'dispute'],
  ]);
  expect(own[0]).not.toHaveProperty('invoiceId');
  const invoice = invoices.find(({ id }) => id === dispute['invoiceId']);
  expect(invoice?.status).toBe('paid');
  expect(cents(dispute)).toBeLessThanOrEqual(invoice ? cents(invoice) : 0);
}

/** Every refund belongs to a purchase, and the refunds of a purchase never exceed it. */
function checkGivenBack({ operations }: View): void {
  const purchases = new Map(
    operations.filter((one) => one['transactionKind'] === 'purchase').map((one) => [one.id, one]),
  );
  const given = new Map<string, number>();
  for (const refund of operations.filter((one) => one['transactionKind'] === 'refund')) {
    const purchase = purchases.get(String(refund['purchaseBillingOperationId']));
    expect(purchase).toBeDefined();
    if (!purchase) return;
    expect(refund.amount.currency).toBe(purchase.amount.currency);
    expect(cents(refund)).toBeGreaterThan(0);
    const counts = refund.status !== 'failed' && refund.status !== 'canceled';
    given.set(purchase.id, (given.get(purchase.id) ?? 0) + (counts ? cents(refund) : 0));
  }
  for (const [id, sum] of given) {
    const purchase = purchases.get(id);
    expect(sum).toBeLessThanOrEqual(purchase ? cents(purchase) : 0);
  }
}

/** Refunds and disputes together never exceed the charge of their invoice. */
function checkCharges({ invoices, refunds, disputes }: View): void {
  const over = ['failed', 'canceled', 'won', 'warningClosed'];
  const live = [...refunds, ...disputes].filter(({ status }) => !over.includes(status));
  for (const invoice of invoices) {
    const own = live.filter(({ invoiceId }) => invoiceId === invoice.id);
    const taken = own.reduce((sum, one) => sum + cents(one), 0);
    expect(taken).toBeLessThanOrEqual(cents(invoice));
  }
}

/** A failed booking costs nothing; a fully released booking has no held segment. */
function checkBookings(trip: JsonObject, { operations }: View): void {
  const segments = objectsIn(trip, 'transportLegs').flatMap((leg) => objectsIn(leg, 'segments'));
  for (const booking of objectsIn(trip, 'bookings')) {
    const own = segments.filter(({ bookingId }) => bookingId === booking['id']);
    const gone = booking['canceled'] === true || booking['exchanged'] === true;
    expect(booking['canceled'] === true && booking['exchanged'] === true).toBe(false);
    if (own.length > 0) {
      expect(own.every(({ canceled, exchanged }) => canceled === true || exchanged === true)).toBe(gone);
    }
    if (booking['status'] === 'failed') {
      expect([own, gone, booking['reference']]).toEqual([[], false, undefined]);
    }
  }
  const references = new Set(objectsIn(trip, 'bookings').flatMap(({ reference }) => reference ?? []));
  for (const operation of operations.filter(({ tripProjectId }) => tripProjectId === trip['id'])) {
    expect(references).toContain((operation['bookingSnapshot'] as JsonObject)['reference']);
  }
}

/**
 * Checks that the events of a resource tell its whole life: the first says that it was created, each further one leads back to
 * the state before it, and the last is the state that is read. Bookings and their changes have one event each.
 */
export function checkEvents(view: View, events: JsonObject[]): void {
  const told = new Map<string, JsonObject>();
  for (const { kind, data, previousAttributes } of events as Record<string, JsonObject>[]) {
    const key = `${data?.['type']} ${data?.['id']}`;
    const before = told.get(key);
    if (String(kind).endsWith('.updated')) {
      expect(mergePatch(data ?? {}, previousAttributes ?? {})).toEqual(before);
      expect(data).not.toEqual(before);
    } else expect([key, before]).toEqual([key, undefined]);
    told.set(key, data ?? {});
  }
  const { trips, ...billed } = view;
  for (const one of Object.values(billed).flat()) expect(told.get(`${one.type} ${one.id}`)).toEqual(one);
  for (const trip of trips) {
    expect(told.get(`tripProject ${trip.id}`)).toMatchObject({ search: trip['search'], id: trip.id });
    for (const { cancellations = [], modifications = [], ...booking } of objectsIn(trip, 'bookings')) {
      // The event has the state at the time of the booking.
      expect(told.get(`booking ${booking['id']}`)).toEqual({ ...booking, canceled: false, exchanged: false });
      for (const one of [cancellations, modifications].flat() as JsonObject[])
        expect(told.get(`${one['type']} ${one['id']}`)).toEqual(one);
    }
  }
}

/** The objects in a field. */
function objectsIn(object: JsonObject, field: string): JsonObject[] {
  return (object[field] ?? []) as JsonObject[];
}

/** An amount in hundredths. */
function cents({ amount }: Pick<Billed, 'amount'>): number {
  return Math.round(amount.total * 100);
}
