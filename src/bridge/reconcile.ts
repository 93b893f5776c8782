import { backoff } from './backoff.ts';
import type { Bases } from './basis.ts';
import type { Connection } from './connection.ts';
import type { Identity, Outcome } from './identity.ts';
import type { Agenda, Identities, Leases, References, Surroundings, TravelFailure } from './ports.ts';
import { settle, type Translated, translate } from './settle.ts';
import { handOver, spread, touchLeftOut } from './spread.ts';
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
      const identity = await taken(shop, connection, { id, lease: { token, until: now + LEASE_MS, now } });
      if (typeof identity === 'string') return identity;
      try {
        return await underLease(shop, connection, { identity, token });
      } catch (error) {
        shop.surroundings.log.error({ err: error, connection: connection.id, id }, 'reconciling failed');
        return await giveUp(shop, { identity, token }, String(error));
      }
    },
  };
}

/** What is committed is answered for, so a lease that cannot be kept, as the disk is full, is only a failed attempt. */
async function taken(
  shop: Workshop,
  connection: Connection,
  { id, lease }: { id: string; lease: Parameters<Leases['take']>[2] },
): Promise<Identity | 'busy' | 'failed'> {
  try {
    return (await shop.leases.take(connection.id, id, lease)) ?? 'busy';
  } catch (error) {
    shop.surroundings.log.error({ err: error, connection: connection.id, id }, 'a lease could not be kept');
    return 'failed';
  }
}

interface Held {
  identity: Identity;
  token: string;
}

async function underLease(shop: Workshop, connection: Connection, held: Held): Promise<Attempt> {
  const { identity, token } = held;
  const translated = await translate(shop, shop.bases, { connection, identity });
  const { settled, basis, announced } = await settleWith(shop, connection, { held, translated });
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
  await spread(shop, connection, { before: identity, after: outcome, announced });
  if (!('kind' in translated))
    await touchLeftOut(shop, { identity, before: translated.resolved.before, after: outcome });
  if (end.kind === 'failed') return 'failed';
  if (kept === 'moved') return 'moved';
  return end.state === 'refused' ? 'refused' : 'settled';
}

async function settleWith(
  shop: Workshop,
  connection: Connection,
  { held, translated }: { held: Held; translated: Translated | TravelFailure },
): Promise<{ settled: Settled; basis: string | undefined; announced: string[] }> {
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
      announced: [],
    };
  }
  const announced = identity.creating === undefined ? [] : [identity.creating];
  const announce: Leases['announce'] = async (of, id, lease, news) => {
    const outcome = await shop.leases.announce(of, id, lease, news);
    if (outcome === 'done' && 'creating' in news && news.creating) announced.push(news.creating);
    return outcome;
  };
  const task: Task = {
    connection,
    identity,
    token,
    basis: translated.basis,
    translation: translated.translation,
    store: { identities: shop.identities, leases: { ...shop.leases, announce } },
    now: shop.surroundings.now,
    checkpoint: shop.surroundings.checkpoint,
  };
  return { settled: await settle(task), basis: translated.basis.version, announced };
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
