import type { Json } from '../../schema/resource.ts';
import { groupsOfScope, groupTest, namesOneOf } from '../../translator/mapping/named-groups.ts';
import { isSetByRules, type Rules } from '../../translator/rules.ts';
import type {
  AppliedField,
  Finding,
  Snapshot,
  Translation,
  UserGroup,
  WantedField,
} from '../../translator/translation.ts';
import { isEqualJson } from '../../translator/values/values.ts';
import { findings } from '../findings.ts';
import type { CountedMembership } from '../groups/group-ports.ts';
import { type Identity, isInactive, type Progress } from '../identity.ts';
import {
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withHold,
  withProgress,
} from './context.ts';
import { type Program, perform } from './effects.ts';

/** Changes of groups may clear or replace values of this many people within the time. */
const LIMIT = { people: 100, windowMs: 60 * 60_000 };

/** Finds the memberships of the identity in groups that the rules name. Undefined if they name none: nothing is read then. */
export function* findNamedMemberships(rules: Rules): Program<CountedMembership[] | undefined> {
  const test = groupTest(rules);
  return test && (yield* perform('findMemberships')).filter(test);
}

/** Finds which expressions of the scope name a group that has not been received. Undefined if the scope names none: nothing is read then. */
export function* findUnknownGroups(rules: Rules): Program<Snapshot['namesUnknownGroup']> {
  const names = groupsOfScope(rules);
  return names.length === 0 ? undefined : namesOneOf(yield* perform('findUnknownGroups', names));
}

/** Returns a finding for each group of which the user counts as a member although the group was deleted or emptied. */
export function unresolvedGroupFindings(memberships: readonly CountedMembership[] = []): Finding[] {
  const present = new Set(
    memberships.flatMap(({ display, until }) => (until === undefined ? [display] : [])),
  );
  return memberships.flatMap(({ display, until }) =>
    until === undefined || present.has(display) ? [] : [findings.groupUnresolved(display, until)],
  );
}

/** The memberships of a user that count, and what the outcome keeps of them. */
export interface MembershipChoice {
  translation: Translation;
  /** The groups of that translation; undefined if the rules name none. */
  groups: readonly UserGroup[] | undefined;
  /** The members of the progress that change. */
  progress: { [Name in 'memberships' | 'discardedMemberships']: Progress[Name] | undefined };
  /** True if an admin has decided so. The version of the user stays the same when its groups change again. */
  isDecided: boolean;
  /** `held`: an admin must decide about a change of groups; `discarded`: an admin has discarded it. */
  effect: 'followed' | 'held' | 'discarded';
  /** True if the change of groups is followed, and would count against the limit if something were sent. */
  isCountedLater?: true;
}

/** The present memberships in named groups, and the translations with them and with any others. */
interface Translated {
  rules: Rules;
  memberships: readonly CountedMembership[] | undefined;
  translation: Translation;
  translateWith(groups: readonly UserGroup[]): Translation;
}

/**
 * Decides which memberships count: the present ones, unless following them would clear or replace a value of one person more than changes
 * of groups may within an hour. Then those of the last outcome count until an admin decides.
 */
export function* chooseMemberships(
  { identity, rulesSnapshot }: Pick<ReconcileContext, 'identity' | 'rulesSnapshot'>,
  translated: Translated,
  { isPlanOnly }: { isPlanOnly: boolean },
): Program<MembershipChoice> {
  const { memberships, translation } = translated;
  const present = memberships?.map(({ value, display }) => ({ value, display }));
  const following: MembershipChoice = {
    ...{ translation, groups: memberships, effect: 'followed', isDecided: false },
    progress: { memberships: present, discardedMemberships: undefined },
  };
  const { memberships: former } = identity.progress;
  if (!present || !former || isInactive(identity) || areSame(former, present)) return following;
  const kept = translated.translateWith(former);
  // Out of scope nothing is lost. Once the person is back, the present memberships are compared with those that were followed last.
  if (kept.scope === 'out' && translation.scope === 'out') {
    const { discardedMemberships } = identity.progress;
    return { ...following, progress: { memberships: former, discardedMemberships } };
  }
  if (!losesValue(identity, translated.rules, { kept, translation })) return following;
  const isHeld = identity.hold?.cause === 'groups';
  const keeping = { translation: kept, groups: former, isDecided: isHeld } as const;
  if (isDiscarded(identity, present))
    return {
      ...{ ...keeping, effect: 'discarded' },
      progress: { memberships: former, discardedMemberships: present },
    };
  const holding: MembershipChoice = {
    ...{ ...keeping, isDecided: false, effect: 'held' },
    progress: { memberships: former, discardedMemberships: undefined },
  };
  if (isAnswered(identity, 'approved')) return { ...following, isDecided: true };
  if (isHeld) return holding;
  // A change of rules has a limit of its own, and names other groups perhaps.
  if (identity.rulesGeneration < rulesSnapshot.generation) return following;
  if (isPlanOnly) return { ...following, isCountedLater: true };
  return (yield* perform('admitMembershipChange', LIMIT)) ? following : holding;
}

/** Returns the memberships that count in a preview, which decides nothing. */
export function countedMemberships(
  identity: Identity,
  present: readonly CountedMembership[] | undefined,
): readonly CountedMembership[] | undefined {
  const { memberships: former } = identity.progress;
  if (!present || !former || isInactive(identity)) return present;
  const isHeld = identity.hold?.cause === 'groups' && !isAnswered(identity, 'approved');
  return isHeld || isDiscarded(identity, present) ? former : present;
}

function isDiscarded(identity: Identity, present: readonly UserGroup[]): boolean {
  const { discardedMemberships } = identity.progress;
  if (identity.hold?.cause === 'groups') return isAnswered(identity, 'discarded');
  return discardedMemberships !== undefined && areSame(discardedMemberships, present);
}

function isAnswered({ decision, version }: Identity, answer: 'approved' | 'discarded'): boolean {
  return decision?.cause === 'groups' && decision.answer === answer && decision.version === version;
}

function areSame(one: readonly UserGroup[], other: readonly UserGroup[]): boolean {
  return isEqualJson(toKeys(one), toKeys(other));
}

function toKeys(groups: readonly UserGroup[]): Json {
  return groups.map(({ value, display }) => JSON.stringify([value, display])).sort();
}

/** True if the present memberships clear or replace the value of an owned field that the former ones keep. */
function losesValue(
  { applied }: Identity,
  rules: Rules,
  { kept, translation }: { kept: Translation; translation: Translation },
): boolean {
  return Object.entries(applied).some(([key, field]) => {
    if (key === 'archived') return false;
    const absent: WantedField = { kind: isSetByRules(rules, key) ? 'absent' : 'kept' };
    const [before, after] = [kept, translation].map(({ fields }) => valueAfter(fields[key] ?? absent, field));
    return before !== null && !isEqualJson(before, after) && !isEqualJson(field.sent, after);
  });
}

/** Returns the value that an owned field has after an update; null if it is removed. */
function valueAfter(wanted: WantedField, { sent, source }: AppliedField): Json {
  switch (wanted.kind) {
    case 'value':
      return wanted.value;
    case 'kept':
    case 'once':
      return sent;
    case 'unresolved':
      return isEqualJson(wanted.source, source) ? sent : null;
    case 'absent':
      return null;
  }
}

/** Adds to a result which memberships it has followed. If a change of groups must wait, the identity is held. */
export function withMembershipsFollowed(
  context: ReconcileContext,
  { draft: before, end }: ReconcileResult,
  { progress, effect, isDecided }: MembershipChoice,
): ReconcileResult {
  if (end.kind === 'paused') return { draft: before, end };
  const followed = withProgress(before, progress);
  const isUsed = isDecided && end.kind === 'state';
  const draft = isUsed ? { ...followed, usedDecision: context.identity.decision } : followed;
  if (effect === 'followed') return { draft, end };
  if (effect === 'discarded') return { draft: withFinding(draft, findings.groupsDiscarded()), end };
  const noted = withFinding(draft, findings.heldGroups());
  const isAtRest = end.kind === 'state' && end.state === 'synced';
  if (!isAtRest) return { draft: noted, end };
  return { draft: withHold(context, noted, 'groups'), end: { kind: 'state', state: 'held' } };
}
