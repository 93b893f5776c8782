import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../schema/resource.ts';
import {
  doubt,
  doubtDifferences,
  drift,
  fieldsOfInvalid,
  isEmpty,
  keep,
  type Plan,
  plan,
  toMergePatch,
} from '../translator/plan.ts';
import type { FieldKey } from '../translator/result.ts';
import type { CustomFieldValue, TravelUser } from '../translator/travel-user.ts';
import { type Addressed, awaiting, withFreeAddress } from './address.ts';
import { findings } from './findings.ts';
import { lostBefore, lostValues, notingLost } from './lost-values.ts';
import type { TravelFailure } from './ports.ts';
import { isPrivileged } from './takeover.ts';
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

/** Each round sends what the last one left over; a sane travel API ends it in two or three. */
const ROUNDS = 6;

/** The traveler of a linked identity no longer exists. */
export type Gone = 'gone';

/**
 * Makes the linked traveler agree with what is wanted: one patch for one change, and none for no change. What the
 * travel API refuses is remembered and the rest is sent.
 */
export async function amend(task: Task, draft: Draft): Promise<Settled | Gone> {
  if (draft.travelId === undefined) return 'gone';
  const seen = draft.observed ? draft : await lookAnew(task, draft, draft.travelId);
  if (seen === 'gone' || 'end' in seen) return seen;
  const barred = await bar(task, seen);
  if (barred) return barred;
  return send(task, await withFreeAddress(task, seen), ROUNDS);
}

/**
 * Something was sent since it was last seen. Where that is not on record, as its sender died, what is not as it was
 * answered is sent again, and not taken for drift.
 */
async function lookAnew(task: Task, draft: Draft, travelId: string): Promise<Draft | Settled | Gone> {
  const seen = await look(task, draft, travelId);
  if (seen === 'gone' || 'end' in seen || !seen.observed) return seen;
  const isOnRecord = Object.values(seen.applied).some(({ unsure }) => unsure);
  return isOnRecord ? seen : { ...seen, applied: doubtDifferences(seen.applied, seen.observed) };
}

async function look(task: Task, draft: Draft, travelId: string): Promise<Draft | Settled | Gone> {
  const answer = await task.connection.travel.read(travelId);
  if (answer.kind === 'ok') return { ...draft, observed: answer.value };
  return answer.kind === 'notFound' ? 'gone' : failed(draft, answer);
}

/** A traveler that the bridge may not write at all, or not before an admin has seen it. */
export async function bar(task: Task, draft: Draft): Promise<Settled | undefined> {
  const self = await task.connection.lookups.self();
  if (self.kind !== 'ok') return failed(draft, self);
  if (self.value.id === draft.travelId) return settled(noting(draft, findings.ownCredential()), 'refused');
  // An address of ours means that the bridge wrote this traveler before: then the role came through the IdP or by hand.
  const isNewLink = draft.applied.email === undefined;
  if (isNewLink && draft.observed && isPrivileged(draft.observed)) {
    return settled(noting(draft, findings.privileged()), 'held');
  }
  return undefined;
}

/** `omit`: values of disabled custom fields that the round before was refused for, and that this one leaves out. */
async function send(
  task: Task,
  addressed: Addressed,
  rounds: number,
  omit: readonly CustomFieldValue[] = [],
): Promise<Settled | Gone> {
  const { draft, fields } = addressed;
  const { applied, refused, observed, travelId } = draft;
  const next = plan({
    applied,
    refused,
    wanted: fields,
    observed,
    basis: task.basis.version,
    rules: task.basis.rules,
  });
  if (isEmpty(next) || travelId === undefined) return rest(task, addressed, next);
  if (rounds === 0)
    return failed(draft, { kind: 'unavailable', text: 'the travel API keeps changing its answer' });
  const read = next.needsCurrent ? await look(task, draft, travelId) : draft;
  if (read === 'gone' || 'end' in read) return read;
  task.checkpoint('beforeSend');
  const body = toMergePatch(next, read.observed, omit);
  const answer = await task.connection.travel.patch(travelId, body);
  task.checkpoint('afterSend');
  if (answer.kind === 'ok') {
    const done = notingLost({ draft: kept(read, next, answer.value), fields }, omit);
    return send(task, done, rounds - 1);
  }
  const { lost, failure } = await lostValues(task, answer, { plan: next, body, current: read.observed });
  const left = failure
    ? leftOver(task, { draft: read, fields }, { plan: next, body, failure })
    : { draft: read, fields };
  return left === 'gone' || 'end' in left ? left : send(task, left, rounds - 1, [...omit, ...lost]);
}

function kept(draft: Draft, next: Plan, answer: TravelUser): Draft {
  return { ...draft, applied: keep(draft.applied, next, answer), observed: answer };
}

/** What to do after a failed patch: stop, or go on with what is left. */
function leftOver(
  task: Task,
  { draft, fields }: Addressed,
  { plan: tried, body, failure }: { plan: Plan; body: JsonObject; failure: TravelFailure },
): Settled | Gone | Addressed {
  switch (failure.kind) {
    case 'notFound':
      return 'gone';
    case 'forbidden':
      return settled(
        noting(draft, findings.forbidden('archived' in tried.set ? 'archived' : '*')),
        'refused',
      );
    case 'conflict': {
      const email = tried.set.email?.value;
      if (typeof email !== 'string')
        return turnedDown(task, { draft, fields }, refusalsOf(tried, [], 'conflict'));
      return { draft: awaiting(draft, email), fields: { ...fields, email: { kind: 'absent' } } };
    }
    case 'invalid': {
      const keys = fieldsOfInvalid(
        failure.fields.map(({ field }) => field),
        tried,
        body,
      );
      const reason = failure.fields.map(({ message }) => message).join('; ');
      return turnedDown(task, { draft, fields }, refusalsOf(tried, keys, reason));
    }
    case 'unauthorized':
      return failed(draft, failure);
    case 'unavailable':
      return failed({ ...draft, applied: doubt(draft.applied, tried), observed: undefined }, failure);
  }
}

interface Refusal {
  key: FieldKey;
  reason: string;
}

/** The named keys, or all that were sent when none was named. */
function refusalsOf(tried: Plan, keys: FieldKey[], reason: string): Refusal[] {
  return (keys.length > 0 ? keys : [...Object.keys(tried.set), ...tried.remove]).map((key) => ({
    key,
    reason,
  }));
}

function turnedDown(task: Task, { draft, fields }: Addressed, refusals: Refusal[]): Addressed {
  return {
    draft: refusing(
      task,
      draft,
      refusals.map((refusal) => ({ ...refusal, wanted: fields })),
    ),
    fields,
  };
}

/** Nothing left to send. */
function rest(task: Task, { draft, fields }: Addressed, next: Plan): Settled {
  const applied = draft.observed ? keep(draft.applied, next, draft.observed) : draft.applied;
  const refused = Object.fromEntries(
    Object.entries(draft.refused).filter(
      ([key, { basis }]) => basis === task.basis.version && isWanted(fields, draft, key),
    ),
  );
  const told = [
    ...draft.findings,
    ...Object.entries(refused).map(([key, { value, reason }]) => findings.refused(key, value, reason)),
    ...(draft.observed ? drift(applied, draft.observed) : []),
    ...lostBefore(task, draft),
  ];
  // Not remembered, so that any repeat of a deactivation tries again (DESIGN §2).
  const { archived: _, ...remembered } = refused;
  const done: Draft = { ...draft, applied, refused: remembered, findings: told, creating: undefined };
  return settled(done, Object.keys(refused).length > 0 ? 'refused' : 'synced');
}

/** True while the refused value, or the refused removal, is what is wanted. */
function isWanted(fields: Fields, draft: Draft, key: FieldKey): boolean {
  const refused = draft.refused[key]?.value;
  const field = fields[key];
  if (field?.kind !== 'value') return refused === null && key in draft.applied;
  return isDeepStrictEqual(field.value, refused);
}
