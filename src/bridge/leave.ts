import { doubt } from '../translator/plan.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { findings } from './findings.ts';
import { mayArriveLate } from './late.ts';
import type { TravelAnswer } from './ports.ts';
import { isPrivileged, standingOf } from './takeover.ts';
import { type Draft, failed, noting, type Settled, settled, type Task } from './task.ts';

/** Takes the traveler of a deleted SCIM user out of use: archives it, or deletes it where the connection says so. */
export async function leave(task: Task, draft: Draft): Promise<Settled> {
  const found = draft.travelId === undefined ? await findLate(task, draft) : draft;
  if ('end' in found) return found;
  const { travelId, observed } = found;
  if (travelId === undefined) return settled({ ...found, creating: undefined }, 'synced');
  const self = await task.connection.lookups.self();
  if (self.kind !== 'ok') return failed(found, self);
  if (self.value.id === travelId) return settled(noting(found, findings.ownCredential()), 'refused');
  const isNewLink = found.applied.email === undefined;
  if (isNewLink && observed && isPrivileged(observed))
    return settled(noting(found, findings.privileged()), 'held');
  if (isArchived(found) && task.connection.policies.deprovision === 'archive')
    return settled(found, 'synced');
  return retire(task, found, travelId);
}

/** True when we archived the traveler; that somebody took it back into use by hand is drift, which is not corrected. */
function isArchived({ applied: { archived }, observed }: Draft): boolean {
  return observed !== undefined && archived?.sent === true && !archived.unsure;
}

/** A create that was announced may have been carried out: then its traveler is there, and must go. */
async function findLate(task: Task, draft: Draft): Promise<Draft | Settled> {
  if (draft.creating === undefined) return draft;
  const answer = await task.connection.travel.byEmail([draft.creating]);
  if (answer.kind !== 'ok') return failed(draft, answer);
  for (const traveler of answer.value) {
    const standing = await standingOf(task, traveler);
    if (standing.kind !== 'ok') return failed(draft, standing);
    if (standing.value.is === 'free') return { ...draft, travelId: traveler.id, observed: traveler };
  }
  if (mayArriveLate(task)) {
    return failed(draft, {
      kind: 'unavailable',
      text: 'a create was announced and its traveler has not appeared',
    });
  }
  return draft;
}

async function retire(task: Task, draft: Draft, travelId: string): Promise<Settled> {
  if (task.connection.policies.deprovision === 'archive') return archive(task, draft, travelId);
  const answer = await sent(task, () => task.connection.travel.remove(travelId));
  switch (answer.kind) {
    case 'ok':
    case 'notFound':
      return settled(unlinked(draft), 'synced');
    case 'forbidden':
    case 'invalid':
    case 'conflict': {
      // Somebody who has traveled is part of the accounts and cannot be deleted; but nobody who left keeps access.
      const kept = noting(draft, findings.notDeleted());
      return isArchived(draft) ? settled(kept, 'synced') : archive(task, kept, travelId);
    }
    case 'unauthorized':
      return failed(draft, answer);
    case 'unavailable':
      return failed({ ...draft, observed: undefined }, answer);
  }
}

async function archive(task: Task, draft: Draft, travelId: string): Promise<Settled> {
  const answer = await sent(task, () => task.connection.travel.patch(travelId, { archived: true }));
  switch (answer.kind) {
    case 'ok':
      return settled(archived(draft, answer.value), 'synced');
    case 'notFound':
      return settled(unlinked(draft), 'synced');
    case 'forbidden':
    case 'invalid':
    case 'conflict':
      return settled(noting(draft, findings.forbidden('archived')), 'refused');
    case 'unauthorized':
      return failed(draft, answer);
    case 'unavailable':
      return failed({ ...unsure(draft), observed: undefined }, answer);
  }
}

async function sent<T>(task: Task, call: () => Promise<TravelAnswer<T>>): Promise<TravelAnswer<T>> {
  task.checkpoint('beforeSend');
  const answer = await call();
  task.checkpoint('afterSend');
  return answer;
}

/** It may have been archived all the same: a return must not rely on what was known before. */
function unsure(draft: Draft): Draft {
  const set = { archived: { value: true, source: false } };
  return { ...draft, applied: doubt(draft.applied, { set, remove: [] }) };
}

function unlinked(draft: Draft): Draft {
  return { ...draft, travelId: undefined, observed: undefined, creating: undefined };
}

function archived(draft: Draft, answer: TravelUser): Draft {
  const entry = { sent: true, answered: answer.archived, source: false };
  return { ...draft, creating: undefined, observed: answer, applied: { ...draft.applied, archived: entry } };
}
