import { emptyPlan, type Plan, plan } from '../translator/plan.ts';
import { referencesOf } from '../translator/references.ts';
import type { Finding } from '../translator/result.ts';
import type { Rules } from '../translator/rules.ts';
import type { Snapshot } from '../translator/snapshot.ts';
import { toTravel } from '../translator/to-travel.ts';
import { withFreeAddress } from './address.ts';
import type { Basis } from './basis.ts';
import type { Connection } from './connection.ts';
import { findings } from './findings.ts';
import { passGates, refuseOwnUser } from './guard.ts';
import type { Identity } from './identity.ts';
import { chooseAddress, withEmail } from './join.ts';
import { withBaseline } from './ownership.ts';
import type { Identities, References } from './ports.ts';
import { type Resolved, resolveReferences } from './references.ts';
import { type Draft, draftOf, type Fields, isApproved, isHeldBefore, noting, type Task } from './task.ts';

/** What the next reconciliation of one identity would come to, as far as that can be told without a call. */
export interface Outlook {
  /** What would be sent. */
  plan: Plan;
  findings: Finding[];
  /** Nothing can be sent, as there is no usable address. */
  isPending: boolean;
}

/** What an outlook is read from; nothing is written there. */
export interface Records {
  identities: Pick<Identities, 'byId' | 'find' | 'holder' | 'isErased' | 'isWaitedFor' | 'waiters'>;
  references: Pick<References, 'of'>;
}

interface Subject {
  connection: Connection;
  identity: Identity;
}

/**
 * Looks ahead for one identity, on whatever basis, with the very parts that a reconciliation works with. The traveler is
 * taken as last seen, and nobody is asked but the store and the lookups.
 */
export function outlooks(records: Records, subject: Subject): (basis: Basis) => Promise<Outlook> {
  const resolve = resolver(records, subject.identity);
  return async (basis) =>
    outlook(taskOf(records, subject, { basis, references: await resolve(basis.rules) }));
}

async function outlook(task: Task): Promise<Outlook> {
  const draft = draftOf(task.identity, task.translation);
  if (draft.travelId !== undefined) return linkedOutlook(task, draft);
  return isOutOfUse(task.identity) ? told(draft, emptyPlan) : unlinkedOutlook(task, draft);
}

async function linkedOutlook(task: Task, draft: Draft): Promise<Outlook> {
  const own = await refuseOwnUser(task, draft);
  if (own?.end.kind === 'state') return told(own.draft, emptyPlan);
  if (isHeldBefore(task.identity, 'return') && !isApproved(task.identity, 'return'))
    return told(noting(draft, findings.heldReturn()), emptyPlan);
  const addressed = await withFreeAddress(task, withBaseline(task, draft));
  const gated = await passGates(task, addressed);
  return told(gated.draft, planned(task, gated.draft, gated.fields));
}

async function unlinkedOutlook(task: Task, draft: Draft): Promise<Outlook> {
  const fresh: Draft = { ...draft, applied: {} };
  const { draft: addressed, email } = await chooseAddress(task, fresh);
  if (email !== undefined) return told(addressed, planned(task, addressed, withEmail(task, email)));
  const isWaiting = addressed.waitingFor !== undefined;
  return {
    ...told(isWaiting ? addressed : noting(addressed, findings.noEmail()), emptyPlan),
    isPending: true,
  };
}

function planned(task: Task, { applied, refused, observed }: Draft, wanted: Fields): Plan {
  const { version, rules } = task.basis;
  return plan({ applied, refused, wanted, observed, basis: version, rules });
}

function told(draft: Draft, next: Plan): Outlook {
  return { plan: next, findings: draft.findings, isPending: false };
}

/** Somebody inactive whose traveler is gone gets no other. */
function isOutOfUse({ desired, applied, creating }: Identity): boolean {
  return desired.active === false && Object.keys(applied).length > 0 && creating === undefined;
}

/** The references of an identity under any rules; those of rules that read the same values are looked up once. */
function resolver(records: Records, identity: Identity): (rules: Rules) => Promise<Snapshot['references']> {
  const references = unwritten(records.references.of);
  const known = new Map<string, Promise<Resolved>>();
  return async (rules) => {
    const mark = JSON.stringify(referencesOf(rules, identity.desired));
    const resolved = known.get(mark) ?? resolveReferences({ ...records, references }, identity, rules);
    known.set(mark, resolved);
    return (await resolved).references;
  };
}

/** A reconciliation's task, of which every way to write leads nowhere. */
function taskOf(
  records: Records,
  { connection, identity }: Subject,
  { basis, references }: { basis: Basis; references: Snapshot['references'] },
): Task {
  const { lookups, rules } = basis;
  const { desired, applied, origin } = identity;
  const snapshot = { lookups, references, applied };
  return {
    connection,
    identity,
    token: '',
    basis,
    translation: toTravel(rules, desired, snapshot),
    baseline: origin.baseline && toTravel(rules, origin.baseline, snapshot).fields,
    store: {
      identities: { ...records.identities, commit: async () => 'stale' },
      leases: { announce: async () => 'lost', waitFor: async () => {} },
      holds: { admitDeparture: async () => true },
    },
    enqueue: async () => {},
    now: () => 0,
    newId: () => 'preview',
    checkpoint: () => {},
  };
}

/** References that are read as they are kept, and never written. */
export function unwritten(of: References['of']): Pick<References, 'of' | 'save' | 'decide'> {
  return {
    of,
    save: async () => {},
    decide: (connection, _id, choose) => choose((id) => of(connection, id)),
  };
}
