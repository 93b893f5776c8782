import type { Connection } from '../../model/connection.ts';
import { findings } from '../../model/findings.ts';
import type { Identity } from '../../model/identity.ts';
import type { FieldKey, Finding, Plan, Snapshot } from '../../model/translation.ts';
import { isActive, type Json } from '../../schema/resource.ts';
import { emptyPlan, makePlan } from '../../translator/plan/plan.ts';
import { readField } from '../../translator/plan/traveler.ts';
import { findManagerReferences } from '../../translator/rules/compiled-fields.ts';
import type { Rules } from '../../translator/rules/rules.ts';
import { canonicalJson, isEqualJson } from '../../translator/values/values.ts';
import {
  newDraft,
  type OutcomeDraft,
  type ReconcileContext,
  type WantedFields,
  withFinding,
} from '../reconcile/context.ts';
import { chooseEmail, wantedFieldsWithEmail } from '../reconcile/create/create-traveler.ts';
import { withGuardsApplied } from '../reconcile/departure/guard.ts';
import {
  hasProvisionedTraveler,
  isScopeDecisive,
  limitToScope,
  withScopeFinding,
  withScopeNoted,
} from '../reconcile/departure/scope.ts';
import { carriedOutBy, type Handlers, type Program, perform, run } from '../reconcile/effects.ts';
import { resolveEmailConflict } from '../reconcile/email/conflicts.ts';
import { type StoreReadDeps, storeReads } from '../reconcile/run/store-reads.ts';
import { withAdoptedAddress, withoutUnownedFields } from '../reconcile/update/ownership.ts';
import { withoutCycles } from '../reconcile/wanted/manager-chains.ts';
import { findNamedMemberships, findUnknownGroups } from '../reconcile/wanted/memberships.ts';
import { resolveReferences } from '../reconcile/wanted/references.ts';
import {
  type StoredRelations,
  translateBaseline,
  translateStored,
} from '../reconcile/wanted/translate-identity.ts';
import type { RulesSnapshot } from '../rules/rules-snapshot.ts';

/** The result of the next reconciliation of one identity, as far as it can be predicted without a call to the travel API. */
export interface PreviewedTraveler {
  /** The changes that would be sent. */
  plan: Plan;
  findings: Finding[];
  isInScope: boolean;
  /** Why there is no traveler and none can be created: a usable email address is lacking, or the scope leaves the person out. */
  lacks?: 'email' | 'scope';
}

interface PreviewSubject {
  connection: Connection;
  identity: Identity;
}

/**
 * Returns a function that previews one identity under any rules and lookups. It uses the same functions as a reconciliation,
 * takes the traveler as last read, and reads from the store only.
 */
export function travelerPreviewer(
  deps: StoreReadDeps,
  subject: PreviewSubject,
): (rulesSnapshot: RulesSnapshot) => Promise<PreviewedTraveler> {
  const resolve = referenceResolver(deps, subject);
  return async (rulesSnapshot) => {
    const { rules } = rulesSnapshot;
    const { account, lookups } = subject.connection;
    const references = await resolve(rules);
    const groups = await readGroups(deps, subject.identity, { rules, account });
    const context = toContext(subject, { rulesSnapshot, references, ...groups });
    const { readOwnUser } = lookups;
    const handlers = { ...readOnlyHandlers(deps, account, subject.identity), readOwnUser };
    return run(previewTraveler(context), carriedOutBy(handlers));
  };
}

function* previewTraveler(context: ReconcileContext): Program<PreviewedTraveler> {
  const draft = withScopeNoted(context, newDraft(context.identity, context.translation));
  if (isScopeDecisive(context)) return yield* previewOutOfScope(context, draft);
  if (draft.travelId !== undefined) return yield* previewLinked(context, draft);
  return isOutOfUse(context.identity) ? toPreview(draft, emptyPlan) : yield* previewUnlinked(context, draft);
}

function* previewLinked(context: ReconcileContext, draft: OutcomeDraft): Program<PreviewedTraveler> {
  const own = yield* perform('readOwnUser');
  if (own.kind === 'ok' && own.value.id === draft.travelId)
    return toPreview(withFinding(draft, findings.ownCredential()), emptyPlan);
  const owned = withAdoptedAddress(context, withoutUnownedFields(context, draft));
  const addressed = yield* resolveEmailConflict(context, owned);
  const gated = yield* withGuardsApplied(context, addressed);
  return toPreview(gated.draft, planUpdate(context, gated.draft, gated.fields));
}

function* previewOutOfScope(context: ReconcileContext, draft: OutcomeDraft): Program<PreviewedTraveler> {
  if (!hasProvisionedTraveler(draft))
    return { ...toPreview(withScopeFinding(context, draft, 'none'), emptyPlan), lacks: 'scope' };
  const limited = limitToScope(context, draft);
  return yield* previewLinked(limited.context, limited.draft);
}

function* previewUnlinked(context: ReconcileContext, draft: OutcomeDraft): Program<PreviewedTraveler> {
  const fresh: OutcomeDraft = { ...draft, applied: {} };
  const {
    draft: addressed,
    emails: [email],
  } = yield* chooseEmail(context, fresh);
  if (email !== undefined)
    return toPreview(addressed, planUpdate(context, addressed, wantedFieldsWithEmail(context, email)));
  const isWaiting = addressed.waitingFor !== undefined;
  return {
    ...toPreview(isWaiting ? addressed : withFinding(addressed, findings.noEmail()), emptyPlan),
    lacks: 'email',
  };
}

function planUpdate(
  context: ReconcileContext,
  { applied, refused, observed }: OutcomeDraft,
  wanted: WantedFields,
): Plan {
  const { version, rules, putBackSince } = context.rulesSnapshot;
  const isPutBack = putBackSince !== undefined;
  return makePlan({ applied, refused, wanted, observed, isPutBack, basis: version, rules });
}

function toPreview(draft: OutcomeDraft, next: Plan): PreviewedTraveler {
  return { plan: next, findings: draft.findings, isInScope: draft.progress.scope === undefined };
}

/** True for an inactive user whose traveler no longer exists; a reconciliation does not create a new one. */
function isOutOfUse({ desired, applied, creating }: Identity): boolean {
  return !isActive(desired) && Object.keys(applied).length > 0 && creating === undefined;
}

/**
 * Resolves the references of an identity under given rules. The result is cached for rules that read the same values.
 */
function referenceResolver(
  deps: StoreReadDeps,
  { connection, identity }: PreviewSubject,
): (rules: Rules) => Promise<Snapshot['references']> {
  const known = new Map<string, Promise<Snapshot['references']>>();
  return (rules) => {
    const key = JSON.stringify(findManagerReferences(rules, identity.desired, identity.origin.countedParts));
    const resolved = known.get(key) ?? readReferences(deps, identity, { rules, ...connection });
    known.set(key, resolved);
    return resolved;
  };
}

/** Resolves the managers that an identity names, from the stored identities of the connection. Writes nothing. */
export async function readReferences(
  deps: StoreReadDeps,
  identity: Identity,
  { rules, account }: { rules: Rules } & Pick<Connection, 'account'>,
): Promise<Snapshot['references']> {
  const resolving = resolveReferences({ identity }, rules);
  return (await run(resolving, carriedOutBy(readOnlyHandlers(deps, account, identity)))).references;
}

/** The groups of an identity that the rules name and that count, and whether the scope names one that has not been received. */
type GroupsOfIdentity = Pick<StoredRelations, 'groups' | 'namesUnknownGroup'>;

/** Reads what the rules need to know about the groups of an identity. */
export async function readGroups(
  deps: StoreReadDeps,
  identity: Identity,
  { rules, account }: { rules: Rules; account: string },
): Promise<GroupsOfIdentity> {
  const carryOut = carriedOutBy(readOnlyHandlers(deps, account, identity));
  const groups = await run(findNamedMemberships(rules), carryOut);
  return { groups, namesUnknownGroup: await run(findUnknownGroups(rules), carryOut) };
}

/** Carries out the reads of a preview. Its writes have no effect, and an address that no identity has counts as free. */
function readOnlyHandlers(deps: StoreReadDeps, account: string, identity: Identity): Partial<Handlers> {
  return {
    ...storeReads(deps, account, identity),
    findTravelers: () => ({ kind: 'ok', value: [] }),
    waitForEmail: () => {},
    admitDeparture: () => true,
    askForEmail: () => {},
    saveReferences: () => {},
    linkReferences: (found) =>
      withoutCycles((id) => deps.references.findRows(identity.connection, id), identity.id, found),
    newId: () => 'preview',
  };
}

function toContext(
  { connection, identity }: PreviewSubject,
  { rulesSnapshot, ...relations }: { rulesSnapshot: RulesSnapshot } & StoredRelations,
): ReconcileContext {
  const translation = translateStored(rulesSnapshot, identity, relations);
  return {
    ...{ connection, identity, rulesSnapshot, translation },
    translateWith: (applied) => translateStored(rulesSnapshot, { ...identity, applied }, relations),
    baseline: translateBaseline(rulesSnapshot, identity, { relations, translation }),
    freeEmail: undefined,
    shadowSince: undefined,
    time: { now: 0, wallClock: 0, server: undefined },
  };
}

/** A field of a traveler that the new rules would change. Null represents a missing value. */
export interface FieldChange {
  field: FieldKey;
  before: Json;
  after: Json;
  /** True if the travel API refused the same value before, and it would be sent again. */
  isAgain: boolean;
}

/** The difference between two previews of one person. */
export interface PreviewDifference {
  /**
   * `created`: a traveler would now be created; `pending`: a traveler would no longer be created for lack of a usable email address;
   * `outOfScope`: the scope would leave the person out, without a call; `changed`: a call would be sent.
   */
  outcome: 'same' | 'changed' | 'created' | 'pending' | 'outOfScope';
  changes: FieldChange[];
  /** Fields that would no longer be owned; their values stay. */
  released: FieldKey[];
  /** New findings. */
  comes: Finding[];
  /** Findings that would disappear. */
  goes: Finding[];
}

/** Codes of findings that only an answer of the travel API causes. A preview omits them, because it sends no calls. */
const foundByCallsOnly = [
  'drift',
  'refusedByTravelApi',
  'forbidden',
  'privileged',
  'guarded',
  'safetyValve',
  'keptActive',
  'neverProvisioned',
  'ownCredential',
  'customFieldLost',
  'rolePreexisting',
];

/** Codes of findings that a write of the IdP causes, whatever the rules. */
const foundAtWrites = [
  ...['movedFrom', 'severalValues', 'valueRefused', 'attributeUnknown'],
  ...['otherPerson', 'secondUser', 'passedOn'],
];

/** Compares two previews of one person. Without `from`, it compares `to` with the present state of the identity. */
export function comparePreviews(
  identity: Identity,
  from: PreviewedTraveler | undefined,
  to: PreviewedTraveler,
): PreviewDifference {
  const before = from ?? previewOfPresent(identity, to);
  const changes = changesBetween(identity, before.plan, to.plan);
  const predictable = { before: predictableFindings(before), after: predictableFindings(to) };
  const comes = without(predictable.after, predictable.before);
  return {
    outcome: outcomeOf(before, to, changes),
    changes: to.lacks ? [] : changes,
    released: to.plan.released.filter((key) => !before.plan.released.includes(key)),
    comes,
    goes: without(predictable.before, predictable.after),
  };
}

/**
 * Describes the present state as a preview without changes. If the creation of a traveler is already due, both previews
 * contain it, because it does not depend on the rules compared.
 */
function previewOfPresent(
  { travelId, state, findings, progress }: Identity,
  to: PreviewedTraveler,
): PreviewedTraveler {
  const isInScope = progress.scope === undefined;
  const present = { plan: emptyPlan, findings, isInScope };
  if (travelId !== undefined) return present;
  if (!isInScope) return { ...present, lacks: 'scope' };
  if (state === 'pending') return { ...present, lacks: 'email' };
  return to.lacks ? present : { ...present, plan: to.plan };
}

function outcomeOf(
  before: PreviewedTraveler,
  to: PreviewedTraveler,
  changes: FieldChange[],
): PreviewDifference['outcome'] {
  const isLeaving = before.isInScope && !to.isInScope;
  if (to.lacks === 'email') return before.lacks === 'email' ? 'same' : 'pending';
  if (to.lacks === undefined && before.lacks) return 'created';
  if (to.lacks === undefined && changes.length > 0) return 'changed';
  return isLeaving ? 'outOfScope' : 'same';
}

function changesBetween(identity: Identity, before: Plan, after: Plan): FieldChange[] {
  const keys = new Set([before, after].flatMap(({ set, remove }) => [...Object.keys(set), ...remove]));
  return [...keys].flatMap((field) => {
    const [old, next] = [plannedValue(before, field), plannedValue(after, field)];
    if (isEqualJson(old, next)) return [];
    const present = valueNow(identity, field);
    const refused = identity.refused[field];
    const isAgain = old === undefined && refused !== undefined && isEqualJson(refused.value, next);
    return [
      {
        field,
        before: old ?? (old === null ? null : present),
        after: next ?? (next === null ? null : present),
        isAgain,
      },
    ];
  });
}

/** Returns the value that a plan sends for a field: null to remove it, undefined if it sends nothing. */
function plannedValue({ set, remove }: Plan, field: FieldKey): Json | undefined {
  return remove.includes(field) ? null : set[field]?.value;
}

function valueNow({ observed, applied }: Identity, field: FieldKey): Json {
  return (observed ? readField(observed, field) : applied[field]?.seen) ?? null;
}

function predictableFindings({ findings }: PreviewedTraveler): Finding[] {
  return findings.filter(({ code }) => !foundByCallsOnly.includes(code) && !foundAtWrites.includes(code));
}

function without(some: Finding[], others: Finding[]): Finding[] {
  const known = new Set(others.map(findingKey));
  return some.filter((finding) => !known.has(findingKey(finding)));
}

function findingKey({ field, code, value = null }: Finding): string {
  return canonicalJson([field, code, value]);
}
