import { addressKey } from './address.ts';
import { backoff } from './backoff.ts';
import type { Bases } from './basis.ts';
import type { Connection } from './connection.ts';
import type { Identity, Outcome } from './identity.ts';
import type { Agenda, Identities, Leases, References, Surroundings, TravelFailure } from './ports.ts';
import { settle, type Translated, translate } from './settle.ts';
import { draftOf, failed, type Settled, type Task } from './task.ts';

/** Longer than all the travel calls of one reconciliation together may take: what a dead holder sent has then arrived. */
const LEASE_MS = 120_000;

/** What one attempt came to: `busy`, another holds it; `moved`, more was written meanwhile; `failed`, it is tried again. */
export type Attempt = 'settled' | 'refused' | 'busy' | 'moved' | 'failed';

/** Makes the travel service agree with identities, one at a time. */
export interface Reconciler {
  /** One attempt at one identity, now. Never rejects. */
  attempt(connection: Connection, id: string): Promise<Attempt>;
}

/** What the reconciler works with. */
export interface Workshop {
  identities: Pick<Identities, 'byId' | 'find' | 'holder' | 'commit'>;
  leases: Leases;
  agenda: Pick<Agenda, 'touch' | 'touchWaiting'>;
  references: References;
  bases: Bases;
  /** Called when identities were made dirty. */
  wake(): void;
  surroundings: Surroundings;
}

/** The one reconcile function that every path uses: level-triggered, under a lease, safe to run any number of times. */
export function reconciler(shop: Workshop): Reconciler {
  return {
    attempt: async (connection, id) => {
      const token = shop.surroundings.newId();
      const now = shop.surroundings.now();
      const identity = await shop.leases.take(connection.id, id, { token, until: now + LEASE_MS, now });
      if (!identity) return 'busy';
      try {
        return await underLease(shop, connection, { identity, token });
      } catch (error) {
        shop.surroundings.log.error({ err: error, connection: connection.id, id }, 'reconciling failed');
        return await giveUp(shop, { identity, token }, String(error));
      }
    },
  };
}

interface Held {
  identity: Identity;
  token: string;
}

async function underLease(shop: Workshop, connection: Connection, held: Held): Promise<Attempt> {
  const { identity, token } = held;
  const translated = await translate(shop, shop.bases, { connection, identity });
  const { settled, basis } = await settleWith(shop, connection, { held, translated });
  // Not after a failure: that a target is gone must be told again until the traveler has followed.
  const { end } = settled;
  if (!('kind' in translated) && end.kind === 'state') {
    // A DELETE that is refused will be taken back, references and all.
    const isLeaving = identity.deletedAt !== undefined && end.state !== 'refused';
    const rows = isLeaving ? [] : translated.resolved.rows;
    await shop.references.save(connection.id, identity.id, rows);
  }
  const outcome = toOutcome(shop, identity, { settled, translated, rulesVersion: basis });
  note(shop, { identity, settled });
  shop.surroundings.checkpoint('beforeOutcome');
  const kept = await shop.leases.finish(connection.id, identity.id, token, identity.revision, outcome);
  if (kept === 'taken') {
    return giveUp(shop, held, 'another identity was linked to the same traveler');
  }
  if (kept === 'lost') {
    await handOver(shop, connection, identity);
    return 'busy';
  }
  await spread(shop, connection, { before: identity, after: outcome });
  if (!('kind' in translated) && translated.resolved.isNew) await touchLeftOut(shop, identity);
  if (end.kind === 'failed') return 'failed';
  if (kept === 'moved') return 'moved';
  return end.state === 'refused' ? 'refused' : 'settled';
}

/** Whoever took the traveler over meanwhile waits for what was under way here; that is over now. */
async function handOver(shop: Workshop, connection: Connection, identity: Identity): Promise<void> {
  const { travelId, desired } = identity;
  const heirs = travelId
    ? [await shop.identities.holder(connection.account, { travelId })]
    : await shop.identities.find(connection.id, { by: 'userName', value: String(desired.userName) });
  const ids = heirs.flatMap((heir) =>
    heir && heir.connection === connection.id && heir.id !== identity.id && heir.deletedAt === undefined
      ? [heir.id]
      : [],
  );
  if (ids.length === 0) return;
  await shop.agenda.touch(connection.id, ids, shop.surroundings.now());
  shop.wake();
}

async function settleWith(
  shop: Workshop,
  connection: Connection,
  { held, translated }: { held: Held; translated: Translated | TravelFailure },
): Promise<{ settled: Settled; basis: string | undefined }> {
  const { identity, token } = held;
  if ('kind' in translated) {
    const unread = draftOf(identity, {
      fields: {},
      findings: identity.findings,
      trace: identity.trace,
      missed: false,
    });
    return {
      settled: failed({ ...unread, waitingFor: identity.waitingFor }, translated),
      basis: identity.rulesVersion,
    };
  }
  const task: Task = {
    connection,
    identity,
    token,
    basis: translated.basis,
    translation: translated.translation,
    store: { identities: shop.identities, leases: shop.leases },
    now: shop.surroundings.now,
    checkpoint: shop.surroundings.checkpoint,
  };
  return { settled: await settle(task), basis: translated.basis.version };
}

function toOutcome(
  shop: Workshop,
  identity: Identity,
  from: { settled: Settled; translated: Translated | TravelFailure; rulesVersion: string | undefined },
): Outcome {
  const { draft, end } = from.settled;
  const trace = 'kind' in from.translated ? identity.trace : from.translated.translation.trace;
  const common = { ...draft, trace, rulesVersion: from.rulesVersion };
  if (end.kind === 'state') return { ...common, state: end.state, attempts: 0, nextAttemptAt: undefined };
  const { now, random } = shop.surroundings;
  const nextAttemptAt = now() + backoff(end.failure, identity.attempts, random());
  return { ...common, state: 'dirty', attempts: identity.attempts + 1, nextAttemptAt };
}

function note(shop: Workshop, { identity, settled }: { identity: Identity; settled: Settled }): void {
  const { log } = shop.surroundings;
  const where = { connection: identity.connection, id: identity.id };
  if (settled.end.kind === 'state') {
    log.info(
      { ...where, state: settled.end.state, findings: settled.draft.findings.map(({ code }) => code) },
      'reconciled',
    );
    return;
  }
  const { failure } = settled.end;
  if (failure.kind === 'unauthorized') {
    log.error(
      where,
      'the travel API refuses our credential (401): check TRAVEL_API_KEY; nothing is lost, all is tried again',
    );
  } else {
    const text = failure.kind === 'unavailable' ? failure.text : failure.kind;
    log.warn(
      { ...where, failure: text, attempts: identity.attempts + 1 },
      'the travel API could not be used; it is tried again',
    );
  }
}

/** A fault of ours, or a link that another won: back off and look again. */
async function giveUp(shop: Workshop, { identity, token }: Held, text: string): Promise<Attempt> {
  const { now, random, log } = shop.surroundings;
  const wait = backoff({ kind: 'unavailable', text }, identity.attempts, random());
  try {
    // Read again: a create may have been announced since, and must not be forgotten.
    const latest = (await shop.identities.byId(identity.connection, identity.id)) ?? identity;
    const outcome: Outcome = {
      ...latest,
      state: 'dirty',
      attempts: identity.attempts + 1,
      nextAttemptAt: now() + wait,
    };
    await shop.leases.finish(identity.connection, identity.id, token, identity.revision, outcome);
  } catch (error) {
    log.error({ err: error }, 'an outcome could not be kept; its lease runs out by itself');
  }
  return 'failed';
}

/** Makes those dirty who waited for what this outcome changed: an address that is free now, a traveler to refer to. */
async function spread(
  shop: Workshop,
  connection: Connection,
  change: { before: Identity; after: Outcome },
): Promise<void> {
  const { before, after } = change;
  const now = shop.surroundings.now();
  const has = addressKey(after.observed?.email ?? '');
  // What was answered last stands in for what was seen, where that is not known.
  const had = [before.observed?.email, before.applied.email?.answered].filter(
    (one) => typeof one === 'string',
  );
  const freed = new Set(had.map(addressKey).filter((email) => email !== has));
  for (const email of freed) {
    await shop.agenda.touchWaiting(connection.account, email, now);
    shop.wake();
  }
  if (before.travelId !== after.travelId || freed.size > 0)
    await touchReferrers(shop, before, [after.travelId, after.observed?.email, ...had]);
}

/** Those whom a circle through this identity kept from their manager may have one now. */
async function touchLeftOut(shop: Workshop, { connection, id }: Identity): Promise<void> {
  const leftOut: string[] = [];
  for (const referrer of await shop.references.referrers(connection, id, [])) {
    const rows = await shop.references.of(connection, referrer);
    if (rows.some(({ target, travelId }) => target === id && travelId === undefined)) leftOut.push(referrer);
  }
  if (leftOut.length === 0) return;
  await shop.agenda.touch(connection, leftOut, shop.surroundings.now());
  shop.wake();
}

async function touchReferrers(
  shop: Workshop,
  before: Identity,
  others: (string | undefined)[],
): Promise<void> {
  const values = [...valuesOf(before), before.travelId, ...others].filter((value) => value !== undefined);
  const referrers = await shop.references.referrers(before.connection, before.id, values);
  if (referrers.length === 0) return;
  await shop.agenda.touch(before.connection, referrers, shop.surroundings.now());
  shop.wake();
}

/** Every value by which others may refer to an identity (DESIGN §5, managerId). */
export function valuesOf({ id, desired, travelId }: Pick<Identity, 'id' | 'desired' | 'travelId'>): string[] {
  const emails = Array.isArray(desired.emails)
    ? desired.emails.map((email) =>
        typeof email === 'object' && email && !Array.isArray(email) ? email.value : undefined,
      )
    : [];
  return [id, travelId, desired.userName, desired.externalId, ...emails].filter(
    (value) => typeof value === 'string',
  );
}
