import { foldCase } from '../schema/fold.ts';
import { findings } from './findings.ts';
import type { Identity } from './identity.ts';
import { type Draft, type Fields, noting, type Task } from './task.ts';

/** How far a chain of people who wait for each other's addresses is followed. */
const LONGEST_CHAIN = 50;

/** A draft with the fields that may be sent for it. */
export interface Addressed {
  draft: Draft;
  fields: Fields;
}

/** The key of an address: equal for addresses that are the same. It is made once; the key of a key may be another one. */
export function addressKey(email: string): string {
  return foldCase(email);
}

/**
 * The wanted fields without an address that somebody else of the account is known to hold: the applied one stays, and
 * the identity waits. In a circle of people who wait for each other, this one steps aside to its userName.
 */
export async function withFreeAddress(task: Task, draft: Draft): Promise<Addressed> {
  const fields = task.translation.fields;
  const email = fields.email;
  if (email?.kind !== 'value' || typeof email.value !== 'string') return { draft, fields };
  if (draft.observed && addressKey(draft.observed.email) === addressKey(email.value))
    return { draft, fields };
  if (!(await holderOf(task, email.value))) return { draft, fields };
  // Noted before it is looked again: who moves away from now on touches this one, and who closes a circle sees it.
  await task.store.leases.waitFor(task.connection.id, task.identity.id, task.token, email.value);
  const holder = await holderOf(task, email.value);
  if (!holder) return { draft, fields };
  const waiting = awaiting(draft, email.value);
  const aside = task.translation.fallbackEmail;
  const canStepAside =
    aside !== undefined && !(await holderOf(task, aside)) && (await isCircle(task, holder));
  return {
    draft: waiting,
    fields: {
      ...fields,
      email: canStepAside ? { kind: 'value', value: aside, source: email.source } : { kind: 'absent' },
    },
  };
}

/** The claimed identity, other than the task's own, whose traveler has the address, or is just being made with it. */
export async function holderOf(task: Task, email: string): Promise<Identity | undefined> {
  const { account } = task.connection;
  const holders = [
    await task.store.identities.holder(account, { travelEmail: email }),
    await task.store.identities.holder(account, { creating: email }),
  ];
  return holders.find((holder) => holder && holder.id !== task.identity.id);
}

/** The draft of somebody who wants an address that another has. */
export function awaiting(draft: Draft, email: string): Draft {
  if (draft.waitingFor !== undefined) return draft;
  return { ...noting(draft, findings.emailTaken(email)), waitingFor: addressKey(email) };
}

async function isCircle(task: Task, holder: Identity): Promise<boolean> {
  let next: Identity | undefined = holder;
  for (let step = 0; next && step < LONGEST_CHAIN; step += 1) {
    if (next.waitingFor === undefined) return false;
    next = await task.store.identities.holder(task.connection.account, {
      travelEmailKey: next.waitingFor,
    });
    if (next?.id === task.identity.id) return true;
  }
  return false;
}
