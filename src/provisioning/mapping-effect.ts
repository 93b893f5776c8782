import type { Json } from '../schema/resource.ts';
import { emptyPlan, makePlan, type Plan } from '../translator/plan.ts';
import { findManagerReferences, type Rules } from '../translator/rules.ts';
import { toTravel } from '../translator/to-travel.ts';
import type { FieldKey, Finding, Snapshot } from '../translator/translation.ts';
import { readField } from '../translator/traveler.ts';
import { canonicalJson, isEqualJson } from '../translator/values.ts';
import type { Connection } from './connection.ts';
import { chooseEmail, wantedFieldsWithEmail } from './create-traveler.ts';
import { resolveEmailConflict } from './email-conflicts.ts';
import { findings } from './findings.ts';
import { refuseOwnUser, withGuardsApplied } from './guard.ts';
import type { Identity } from './identity.ts';
import { withoutUnownedFields } from './ownership.ts';
import {
  isApproved,
  newDraft,
  type OutcomeDraft,
  type ReconcileContext,
  type WantedFields,
  wasHeldFor,
  withFinding,
} from './reconcile-context.ts';
import { type ResolvedReferences, resolveReferences } from './references.ts';
import type { RulesSnapshot } from './rules-snapshot.ts';
import type { Identities, References } from './store-ports.ts';

/** What the next reconciliation of one identity would come to, as far as that can be told without a call. */
export interface PreviewedTraveler {
  /** What would be sent. */
  plan: Plan;
  findings: Finding[];
  /** Nothing can be sent, as there is no usable address. */
  isPending: boolean;
}

/** What an outlook is read from; nothing is written there. */
export interface PreviewDeps {
  identities: Pick<
    Identities,
    'findById' | 'find' | 'findHolder' | 'isErased' | 'isWaitedFor' | 'findWaiters'
  >;
  references: Pick<References, 'findRows'>;
}

interface Subject {
  connection: Connection;
  identity: Identity;
}

/**
 * Looks ahead for one identity, on whatever basis, with the very parts that a reconciliation works with. The traveler is
 * taken as last seen, and nobody is asked but the store and the lookups.
 */
export function travelerPreviewer(
  records: PreviewDeps,
  subject: Subject,
): (basis: RulesSnapshot) => Promise<PreviewedTraveler> {
  const resolve = resolver(records, subject.identity);
  return async (basis) =>
    previewTraveler(taskOf(records, subject, { basis, references: await resolve(basis.rules) }));
}

async function previewTraveler(context: ReconcileContext): Promise<PreviewedTraveler> {
  const draft = newDraft(context.identity, context.translation);
  if (draft.travelId !== undefined) return linkedOutlook(context, draft);
  return isOutOfUse(context.identity) ? told(draft, emptyPlan) : unlinkedOutlook(context, draft);
}

async function linkedOutlook(context: ReconcileContext, draft: OutcomeDraft): Promise<PreviewedTraveler> {
  const own = await refuseOwnUser(context, draft);
  if (own?.end.kind === 'state') return told(own.draft, emptyPlan);
  if (wasHeldFor(context.identity, 'return') && !isApproved(context.identity, 'return'))
    return told(withFinding(draft, findings.heldReturn()), emptyPlan);
  const addressed = await resolveEmailConflict(context, withoutUnownedFields(context, draft));
  const gated = await withGuardsApplied(context, addressed);
  return told(gated.draft, planned(context, gated.draft, gated.fields));
}

async function unlinkedOutlook(context: ReconcileContext, draft: OutcomeDraft): Promise<PreviewedTraveler> {
  const fresh: OutcomeDraft = { ...draft, applied: {} };
  const { draft: addressed, email } = await chooseEmail(context, fresh);
  if (email !== undefined)
    return told(addressed, planned(context, addressed, wantedFieldsWithEmail(context, email)));
  const isWaiting = addressed.waitingFor !== undefined;
  return {
    ...told(isWaiting ? addressed : withFinding(addressed, findings.noEmail()), emptyPlan),
    isPending: true,
  };
}

function planned(
  context: ReconcileContext,
  { applied, refused, observed }: OutcomeDraft,
  wanted: WantedFields,
): Plan {
  const { version, rules } = context.rulesSnapshot;
  return makePlan({ applied, refused, wanted, observed, basis: version, rules });
}

function told(draft: OutcomeDraft, next: Plan): PreviewedTraveler {
  return { plan: next, findings: draft.findings, isPending: false };
}

/** Somebody inactive whose traveler is gone gets no other. */
function isOutOfUse({ desired, applied, creating }: Identity): boolean {
  return desired.active === false && Object.keys(applied).length > 0 && creating === undefined;
}

/** The references of an identity under any rules; those of rules that read the same values are looked up once. */
function resolver(
  records: PreviewDeps,
  identity: Identity,
): (rules: Rules) => Promise<Snapshot['references']> {
  const references = readOnlyReferences(records.references.findRows);
  const known = new Map<string, Promise<ResolvedReferences>>();
  return async (rules) => {
    const mark = JSON.stringify(findManagerReferences(rules, identity.desired));
    const resolved = known.get(mark) ?? resolveReferences({ ...records, references }, identity, rules);
    known.set(mark, resolved);
    return (await resolved).references;
  };
}

/** A reconciliation's context, of which every way to write leads nowhere. */
function taskOf(
  records: PreviewDeps,
  { connection, identity }: Subject,
  { basis, references }: { basis: RulesSnapshot; references: Snapshot['references'] },
): ReconcileContext {
  const { lookups, rules } = basis;
  const { desired, applied, origin } = identity;
  const snapshot = { lookups, references, applied };
  return {
    connection,
    identity,
    rulesSnapshot: basis,
    translation: toTravel(rules, desired, snapshot),
    baseline: origin.baseline && toTravel(rules, origin.baseline, snapshot).fields,
    identities: { ...records.identities, commit: async () => 'stale' },
    holds: { admitDeparture: async () => true },
    announce: async () => 'lost',
    saveEmailWait: async () => {},
    enqueue: async () => {},
    now: () => 0,
    newId: () => 'preview',
    checkpoint: () => {},
  };
}

/** References that are read as they are kept, and never written. */
export function readOnlyReferences(
  of: References['findRows'],
): Pick<References, 'findRows' | 'save' | 'update'> {
  return {
    findRows: of,
    save: async () => {},
    update: (connection, _id, choose) => choose((id) => of(connection, id)),
  };
}

/** One field of a traveler that other rules would change; null stands for no value. */
export interface FieldChange {
  field: FieldKey;
  before: Json;
  after: Json;
  /** The travel API has refused this very value before, and would be asked anew. */
  isAgain: boolean;
}

/** What other rules mean for one person. */
export interface PreviewDifference {
  /** `created`: gets a traveler at last; `pending`: does not get one any more; `changed`: a call would be made for the traveler. */
  outcome: 'same' | 'changed' | 'created' | 'pending';
  changes: FieldChange[];
  /** Fields that would be ours no longer; their values stay. */
  released: FieldKey[];
  /** Findings that would be new. */
  comes: Finding[];
  /** Findings that would be gone. */
  goes: Finding[];
}

/** What only an answer of the travel API tells: an outlook asks for none, so it can neither find nor miss it. */
const toldByTravelApi = [
  'drift',
  'refusedByTravelApi',
  'forbidden',
  'existingUser',
  'privileged',
  'guarded',
  'safetyValve',
  'rulesHeld',
  'returnHeld',
  'ownCredential',
  'customFieldLost',
];

/** What was decided when the IdP wrote, whatever the rules. */
const toldByOrigin = ['movedFrom'];

/** Compares two outlooks for one person. Without `from`, the new one is compared with what was sent and found last. */
export function comparePreviews(
  identity: Identity,
  from: PreviewedTraveler | undefined,
  to: PreviewedTraveler,
): PreviewDifference {
  const before = from ?? asSettled(identity, to);
  const changes = changesBetween(identity, before.plan, to.plan);
  const told = { before: tellable(before), after: tellable(to) };
  return {
    outcome: outcomeOf(before, to, changes),
    changes: to.isPending ? [] : changes,
    released: to.plan.released.filter((key) => !before.plan.released.includes(key)),
    comes: without(told.after, told.before),
    goes: without(told.before, told.after),
  };
}

/** Somebody with nothing left to do. Who has no traveler yet and is on the way to one gets it under any rules. */
function asSettled({ travelId, state, findings }: Identity, to: PreviewedTraveler): PreviewedTraveler {
  const isPending = travelId === undefined && state === 'pending';
  const isUnderWay = travelId === undefined && !isPending && !to.isPending;
  return { plan: isUnderWay ? to.plan : emptyPlan, findings, isPending };
}

function outcomeOf(
  before: PreviewedTraveler,
  to: PreviewedTraveler,
  changes: FieldChange[],
): PreviewDifference['outcome'] {
  if (to.isPending) return before.isPending ? 'same' : 'pending';
  if (before.isPending) return 'created';
  return changes.length > 0 ? 'changed' : 'same';
}

function changesBetween(identity: Identity, before: Plan, after: Plan): FieldChange[] {
  const keys = new Set([before, after].flatMap(({ set, remove }) => [...Object.keys(set), ...remove]));
  return [...keys].flatMap((field) => {
    const [old, next] = [moveOf(before, field), moveOf(after, field)];
    if (isEqualJson(old, next)) return [];
    const there = valueNow(identity, field);
    const refused = identity.refused[field];
    const isAgain = old === undefined && refused !== undefined && isEqualJson(refused.value, next);
    return [
      {
        field,
        before: old ?? (old === null ? null : there),
        after: next ?? (next === null ? null : there),
        isAgain,
      },
    ];
  });
}

/** What a plan sends for a field: null to take it away, undefined when nothing. */
function moveOf({ set, remove }: Plan, field: FieldKey): Json | undefined {
  return remove.includes(field) ? null : set[field]?.value;
}

function valueNow({ observed, applied }: Identity, field: FieldKey): Json {
  return (observed ? readField(observed, field) : applied[field]?.answered) ?? null;
}

function tellable({ findings }: PreviewedTraveler): Finding[] {
  return findings.filter(({ code }) => !toldByTravelApi.includes(code) && !toldByOrigin.includes(code));
}

function without(some: Finding[], others: Finding[]): Finding[] {
  const known = new Set(others.map(markOf));
  return some.filter((finding) => !known.has(markOf(finding)));
}

function markOf({ field, code, value = null }: Finding): string {
  return canonicalJson([field, code, value]);
}
