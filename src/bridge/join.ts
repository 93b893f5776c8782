import type { JsonObject } from '../schema/resource.ts';
import { doubt, fieldsOfInvalid, keep, type Plan, plan, toCreate } from '../translator/plan.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { awaiting, holderOf } from './address.ts';
import { amend, type Gone } from './amend.ts';
import { findings } from './findings.ts';
import { mayArriveLate } from './late.ts';
import { isAnnounced, linkExisting } from './link.ts';
import type { TravelFailure } from './ports.ts';
import { isGivenUp } from './takeover.ts';
import {
  type Draft,
  type Fields,
  failed,
  noting,
  refusing,
  type Settled,
  settled,
  type Task,
} from './task.ts';

const ROUNDS = 6;

/**
 * Gives an identity that has none its traveler: the one that an earlier attempt may have made, the one that already has
 * the address, or a new one. The address is announced before a create is sent, so that no crash makes a second traveler.
 */
export async function join(task: Task, draft: Draft): Promise<Settled | Gone> {
  const addresses = [draft.creating, ...wantedAddresses(task)].filter((email) => email !== undefined);
  if (draft.creating !== undefined) {
    const linked = await linkExisting(task, draft, [...new Set(addresses)]);
    if (linked !== 'none' && linked !== 'taken') return linked;
    const isSameAddress = wantedAddresses(task)
      .slice(0, 1)
      .some((email) => isAnnounced(task, email));
    if (linked === 'none' && !isSameAddress && mayArriveLate(task))
      return failed(draft, {
        kind: 'unavailable',
        text: 'a create was announced under another address and its traveler has not appeared',
      });
  }
  return create(task, { ...draft, applied: {} }, ROUNDS);
}

/** The address that is wanted, then the userName, which serves when another has the first. */
function wantedAddresses(task: Task): string[] {
  const email = task.translation.fields.email;
  const first = email?.kind === 'value' && typeof email.value === 'string' ? email.value : undefined;
  return [first, task.translation.fallbackEmail].filter((address) => address !== undefined);
}

async function create(task: Task, draft: Draft, rounds: number): Promise<Settled | Gone> {
  const { draft: addressed, email } = await chooseAddress(task, draft);
  if (email === undefined) return unaddressed(task, addressed);
  if (rounds === 0)
    return failed(draft, { kind: 'unavailable', text: 'the travel API keeps refusing the create' });
  const wanted = withEmail(task, email);
  const announcement = await announce(task, addressed, email);
  if (announcement === 'taken') return create(task, awaitingTaken(addressed, email), rounds - 1);
  if (announcement === 'lost')
    return failed(addressed, { kind: 'unavailable', text: 'the lease ran out before the create was sent' });
  const announced: Draft = { ...addressed, creating: email };
  const next = plan({
    applied: {},
    refused: announced.refused,
    wanted,
    observed: undefined,
    basis: task.basis.version,
    rules: task.basis.rules,
  });
  task.checkpoint('beforeSend');
  const body = toCreate(next);
  const answer = await task.connection.travel.create(body);
  task.checkpoint('afterSend');
  if (answer.kind === 'ok') return amend(task, madeAs(announced, keep({}, next, answer.value), answer.value));
  return afterFailure(task, announced, { email, wanted, failure: answer, rounds, plan: next, body });
}

/** Announces the create. That another is just making a traveler of the address is waited for, and looked at once more. */
async function announce(
  { connection, identity, token, store: { leases } }: Task,
  draft: Draft,
  email: string,
): Promise<'done' | 'lost' | 'taken'> {
  const first = await leases.announce(connection.id, identity.id, token, { creating: email });
  if (first !== 'taken' || draft.waitingFor !== undefined) return first;
  await leases.waitFor(connection.id, identity.id, token, email);
  return leases.announce(connection.id, identity.id, token, { creating: email });
}

/** The first wanted address that the travel API has not refused and nobody known has. */
export async function chooseAddress(
  task: Task,
  draft: Draft,
): Promise<{ draft: Draft; email: string | undefined }> {
  let waiting = draft;
  for (const email of wantedAddresses(task)) {
    const refused = draft.refused.email;
    if (refused?.value === email && refused.basis === task.basis.version) continue;
    if (isTaken(draft, email)) continue;
    const isFirst = waiting.waitingFor === undefined;
    if (isFirst && (await isHeld(task, email)))
      await task.store.leases.waitFor(task.connection.id, task.identity.id, task.token, email);
    if (!(await isHeld(task, email))) return { draft: waiting, email };
    waiting = awaiting(waiting, email);
  }
  return { draft: waiting, email: undefined };
}

/** A deleted person's traveler is no obstacle: the create finds it, and takes it over. */
async function isHeld(task: Task, email: string): Promise<boolean> {
  const holder = await holderOf(task, email);
  return holder !== undefined && !isGivenUp(task, holder);
}

/** True when this run has learnt that another traveler has the address. */
function isTaken(draft: Draft, email: string): boolean {
  return draft.findings.some(({ code, value }) => code === 'emailTaken' && value === email);
}

function unaddressed(task: Task, draft: Draft): Settled {
  const refused = draft.refused.email;
  const told =
    refused && refused.basis === task.basis.version
      ? noting(draft, findings.refused('email', refused.value, refused.reason))
      : draft;
  const needsWord = told.waitingFor === undefined && told === draft;
  return settled(
    { ...(needsWord ? noting(told, findings.noEmail()) : told), creating: undefined },
    'pending',
  );
}

/** The wanted fields with the address that was chosen. */
export function withEmail(task: Task, email: string): Fields {
  const wanted = task.translation.fields.email;
  const source = wanted?.kind === 'value' ? wanted.source : email;
  return { ...task.translation.fields, email: { kind: 'value', value: email, source } };
}

function madeAs(draft: Draft, applied: Draft['applied'], traveler: TravelUser): Draft {
  return { ...draft, travelId: traveler.id, observed: traveler, applied, creating: undefined };
}

interface Failed {
  email: string;
  wanted: Fields;
  failure: TravelFailure;
  rounds: number;
  plan: Plan;
  body: JsonObject;
}

async function afterFailure(task: Task, draft: Draft, tried: Failed): Promise<Settled | Gone> {
  const { failure, wanted, rounds } = tried;
  switch (failure.kind) {
    case 'conflict': {
      const linked = await linkExisting(task, draft, [tried.email]);
      if (linked === 'taken') return create(task, awaitingTaken(draft, tried.email), rounds - 1);
      if (linked !== 'none') return linked;
      return failed(draft, {
        kind: 'unavailable',
        text: 'a create met a conflict, yet nobody has the address',
      });
    }
    case 'invalid': {
      const named = fieldsOfInvalid(
        failure.fields.map(({ field }) => field),
        tried.plan,
        tried.body,
      );
      const reason = failure.fields.map(({ message }) => message).join('; ');
      if (named.length === 0) {
        const told = noting(draft, findings.refused('*', undefined, reason || 'no field was named'));
        return settled({ ...told, creating: undefined }, 'pending');
      }
      const left = refusing(
        task,
        draft,
        named.map((key) => ({ key, reason, wanted })),
      );
      return create(task, left, rounds - 1);
    }
    case 'forbidden':
      return settled(noting({ ...draft, creating: undefined }, findings.forbidden('*')), 'refused');
    case 'notFound':
      return failed(draft, {
        kind: 'unavailable',
        text: 'the travel API does not know its users collection (404)',
      });
    case 'unauthorized':
      return failed(draft, failure);
    case 'unavailable':
      return failed({ ...draft, applied: doubt({}, tried.plan) }, failure);
  }
}

/** Notes that the address is taken; what it waits for stays the first choice. */
function awaitingTaken(draft: Draft, email: string): Draft {
  const noted = awaiting({ ...draft, waitingFor: undefined }, email);
  return { ...noted, waitingFor: draft.waitingFor ?? noted.waitingFor };
}
