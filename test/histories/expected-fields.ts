import type { ConnectionName } from './identity-providers.ts';
import { type FieldRules, ruleOf, type ScopeVerdict, scopeOf } from './mappings.ts';
import type { Field, Rule, Value } from './traveler-fields.ts';
import type { WantedUser } from './wanted-user.ts';

/** What is stated of a user beside its own attributes: the groups of which it counts as a member, and whether the scope has it. */
export interface Standing {
  groups: readonly string[];
  scope: ScopeVerdict;
}

/** One event since the last check; the events are in order. */
export type HistoryEvent =
  | {
      kind: 'write';
      person: number;
      connection: ConnectionName;
      verb: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      wanted: WantedUser | undefined;
      before: WantedUser | undefined;
      standing: Standing;
      /** The person never wanted this address before. */
      isNewEmail: boolean;
      /** The connection was paused: what the IdP stated is compared with the traveler, whatever was sent before. */
      isInPause: boolean;
    }
  /** Groups have changed: the person counts as a member of others, or the scope decides otherwise. */
  | { kind: 'standing'; person: number; wanted: WantedUser; standing: Standing }
  | { kind: 'edit'; traveler: string; field: Field | 'email'; value: Value }
  | { kind: 'stranger'; traveler: string; person: number; values: Partial<Record<Field, Value>> }
  | { kind: 'vanish'; traveler: string; person: number };

/** A traveler as it was, without violations, at the last check. */
export interface RememberedTraveler {
  fields: Record<Field, Value>;
  email: string;
  /** The id of the cost center: the name may be that of another one by now. */
  costCenterId: string | undefined;
  isAdmin: boolean;
  /** True if it was active because an admin had discarded the departure; `fields` has it as archived. */
  isKeptActive: boolean;
  /** The values that the IdP wanted, by field. A field without an entry is not owned. */
  wanted: Map<Field, Value>;
  /** The fields whose wanted values the travel API has accepted and not carried out: they are sent again under other rules. */
  ignored: ReadonlySet<Field>;
  /** The last person linked to the traveler; undefined if it was created by hand and never linked. */
  owner: { person: number; connection: ConnectionName; externalId: string } | undefined;
  /** True if it was linked and unlinked between two checks, so that its owned fields are unknown. */
  isUncertain: boolean;
  /** True if the database was restored: what the bridge sent since the backup, it takes for values of others. */
  isRestored: boolean;
  /** True while a leaver's traveler is un-archived by hand. */
  isActiveByHand: boolean;
  /** True if its person had left. The person who gets it next may be the same one. */
  isLeftBehind: boolean;
  /**
   * True if it did not follow the rules, because an admin had discarded them for its person, or the scope left the person out: what it was
   * then, nobody had corrected.
   */
  isWithoutRules: boolean;
}

/** The rules in force at the last check, and now. */
export interface RuleChange {
  before: FieldRules;
  now: FieldRules;
  /** Fields whose rules an admin has not let everybody follow since the last check, or before it; and the scope. */
  undecided: ReadonlySet<Field | 'scope'>;
  /** Fields whose rules have changed since the last check, also if they are now as before: the rules between may have been followed. */
  changed: ReadonlySet<Field | 'scope'>;
  /** True if an admin has discarded the rules: only people whom the IdP writes follow them. */
  isDiscarded: boolean;
}

export interface History {
  events: readonly HistoryEvent[];
  rules: RuleChange;
  drift: 'report' | 'correct';
  /** The number of edits by hand since the beginning, by traveler and field. */
  edits: ReadonlyMap<string, number>;
}

/** The values that a field may have in a settled state, `any` if the contract does not decide, and the wanted one. */
export interface ExpectedValues {
  allowed: ReadonlySet<Value> | 'any';
  /** Undefined if the field is not owned. */
  wanted: { value: Value } | undefined;
  /** The values of which any may have been sent last; empty if that is the wanted one. */
  sent: ReadonlySet<Value>;
}

/** The bridge corrects one field at most this often within an hour. */
const CORRECTIONS = 3;

interface FieldTrack {
  /** Values written by others that the field may still have. */
  drift: Set<Value>;
  /** Values set by hand that a new value of the IdP replaces, if it is ever sent. */
  replaced: Set<Value>;
  owned: boolean;
  wanted: Value;
  /** True if the field may have the wanted value. */
  isWantedAllowed: boolean;
  /** All values that were wanted: a change back to one of them may never reach the travel API. */
  seen: Set<Value>;
  isChanged: boolean;
  /** The value that a traveler had before it was linked. */
  foreignStart: { value: Value } | undefined;
  owner: { connection: ConnectionName; externalId: string } | undefined;
  person: number | undefined;
  /** True while the field is left as it is, because the scope leaves the person out. */
  isLeft: boolean;
  /** True if it was left all the time since the last check. */
  isLeftSinceCheck: boolean;
  /** The values that the field may have while it is left: the one at the last check, and those that came since. */
  possible: Set<Value>;
  /** The values that may have been sent last, when the field is left. */
  sent: Set<Value>;
  /** True until a value is sent, if the one sent before is not known: the scope or a decision left the person out, perhaps while the database was restored. */
  isSentUnknown: boolean;
  /** The value of a traveler that the bridge may not have changed yet: it stays while the scope of its person is unresolved. */
  untouched: { value: Value } | undefined;
  /** True if the values of another person are removed, which happens also while the scope leaves the person out. */
  isReset: boolean;
}

/** A traveler with the person that is linked to it now. */
export interface LinkedTraveler {
  traveler: string;
  person: number;
  /** The wanted user; undefined after the person left. */
  wanted: WantedUser | undefined;
  standing: Standing;
  /** As at the last check, under the rules of now; undefined if the person had no user. */
  atLastCheck: Stated | undefined;
  /** As at the last check, under each of the rules that were in force since then and are not any more. */
  underRulesBetween: readonly { rules: FieldRules; stated: Stated }[];
  memory: RememberedTraveler | undefined;
  /** True if a value that the IdP removes may stay, because the bridge may take the one of its own create for that of others. */
  keepsRemoved: boolean;
}

/** What an IdP states of a person at one moment. */
export interface Stated {
  wanted: WantedUser;
  standing: Standing;
}

/** Applies the events to one field of a linked traveler, and returns the values that it may have. */
export function expectedValues(field: Field, linked: LinkedTraveler, history: History): ExpectedValues {
  const { traveler, person, wanted, standing, atLastCheck, underRulesBetween, memory } = linked;
  const { rules } = history;
  const [before, rule] = [ruleOf(field, rules.before), ruleOf(field, rules.now)];
  const isUndecided = rules.undecided.has(field);
  const isScopeUndecided = rules.undecided.has('scope');
  const isChanged = rules.changed.has(field);
  // Rules that have gone leave the value that they gave.
  if (((before || isChanged) && !rule) || (isUndecided && rules.isDiscarded))
    return { allowed: 'any', wanted: undefined, sent: new Set() };
  const track = newTrack(field, memory, {
    ...{ isRuled: rule !== undefined, isNewRule: rule !== undefined && (!before || isUndecided) },
    isOtherRule: rule !== before || isChanged || isUndecided || isScopeUndecided,
  });
  const policy = scopeOf(rules.now.mapping)?.outOfScope;
  const apply = (stated: Stated) => applyStated(track, field, { rule, policy, stated });
  const first = atLastCheck && statedValue(field, track, { rule, policy, stated: atLastCheck });
  const isLeft = first === 'left';
  Object.assign(track, { isLeft, isLeftSinceCheck: isLeft });
  const between = underRulesBetween.map(({ rules: earlier, stated }) =>
    statedValue(field, track, {
      rule: ruleOf(field, earlier),
      policy: scopeOf(earlier.mapping)?.outOfScope,
      stated,
    }),
  );
  // Other rules may have been followed before the scope left the person out.
  for (const given of [first, ...between])
    if (given && given !== 'left') for (const values of [track.possible, track.sent]) values.add(given.value);
  // Whether their value was sent, before an admin discarded rules, is not known: a value set by hand may be drift.
  if (first && first !== 'left' && isUndecided && memory && !memory.wanted.has(field))
    Object.assign(track, { wanted: first.value, isWantedAllowed: true });
  // What they give is sent before the first event, if nobody holds them; and so may be the create of a traveler that was not there.
  if (first && first !== 'left' && (rule !== before || !memory)) applyWanted(track, first.value);
  applyEvents(track, field, { traveler, person, history, apply });
  // A person who got the traveler without a POST, as the own one had vanished, may have had it reset, too.
  if (track.owner && (track.person !== person || memory?.isLeftBehind))
    Object.assign(track, { owned: true, isWantedAllowed: true });
  if (wanted) apply({ wanted, standing });
  const followed = new Set(track.drift);
  if (track.isWantedAllowed) followed.add(track.wanted);
  // Between two rules there may have been none, which has left the value with the traveler.
  if (isChanged && track.wanted === undefined && memory) followed.add(memory.fields[field]);
  if (track.untouched) followed.add(track.untouched.value);
  if (linked.keepsRemoved && track.wanted === undefined)
    for (const value of memory ? [memory.fields[field]] : track.seen) followed.add(value);
  const allowed = track.isLeft ? track.possible : followed;
  const isCertain =
    memory?.isUncertain !== true &&
    !(track.isLeft && track.isReset) &&
    !(isScopeUndecided && rules.isDiscarded);
  // Of a person whom the scope leaves out, it is not known what was sent before.
  const isUnknown = track.isLeft && track.wanted === undefined && memory?.wanted.has(field) === false;
  return {
    allowed: isCertain ? allowed : 'any',
    wanted: track.owned && rule && !isUnknown ? { value: track.wanted } : undefined,
    // Where the field is not left, the wanted value was sent last, whatever was set by hand since.
    sent: track.isLeft ? track.sent : new Set(),
  };
}

function applyEvents(
  track: FieldTrack,
  field: Field,
  {
    traveler,
    person,
    history,
    apply,
  }: Pick<LinkedTraveler, 'traveler' | 'person'> & { history: History; apply(stated: Stated): void },
): void {
  const isExhausted = (history.edits.get(`${traveler} ${field}`) ?? 0) > CORRECTIONS;
  for (const event of history.events) {
    if (event.kind === 'stranger' && event.traveler === traveler) applyStranger(track, event.values[field]);
    if (event.kind === 'edit' && event.traveler === traveler && event.field === field)
      applyEdit(track, event.value, history, isExhausted);
    if (event.kind === 'write' && event.person === person) applyWrite(track, field, event, apply);
    if (event.kind === 'standing' && event.person === person) apply(event);
  }
}

interface Application {
  rule: Rule | undefined;
  /** What becomes of the traveler of a person who leaves the scope; undefined without a scope. */
  policy: 'keep' | 'archive' | undefined;
  stated: Stated;
}

/** What a field becomes by what is stated at one moment; `left` if it stays as it is. Departures do not ask for the scope. */
function statedValue(
  field: Field,
  { wanted: last }: FieldTrack,
  { rule, policy, stated: { wanted, standing } }: Application,
): { value: Value } | 'left' | undefined {
  const { groups, scope } = standing;
  const ruled = rule && { value: rule({ ...wanted, groups }) };
  if (!wanted.active || scope === 'in') return ruled;
  // Only somebody who is in scope gets access back.
  if (scope === 'unresolved') return field === 'archived' && last === 'true' ? 'left' : ruled;
  return field === 'archived' && policy === 'archive' ? { value: 'true' } : 'left';
}

function applyStated(track: FieldTrack, field: Field, application: Application): void {
  const value = statedValue(field, track, application);
  track.isLeft = value === 'left';
  if (value !== 'left') track.isLeftSinceCheck = false;
  const { wanted, standing } = application.stated;
  if (!wanted.active || standing.scope === 'in') track.untouched = undefined;
  if (value && value !== 'left') applyWanted(track, value.value);
}

function newTrack(
  field: Field,
  memory: RememberedTraveler | undefined,
  { isRuled, isNewRule, isOtherRule }: Record<'isRuled' | 'isNewRule' | 'isOtherRule', boolean>,
): FieldTrack {
  const value = memory?.fields[field];
  const owned = memory ? memory.wanted.has(field) : true;
  const wanted = memory?.wanted.get(field);
  const isDrifted = memory !== undefined && !(owned && value === wanted);
  const isIgnored = memory?.ignored.has(field) === true;
  return {
    drift: new Set(isDrifted ? [value] : []),
    replaced: new Set(),
    owned: owned || isNewRule,
    wanted,
    // What was under way at the backup of a restored database is sent again.
    isWantedAllowed: !isDrifted || isOtherRule || isIgnored || memory.isWithoutRules || memory.isRestored,
    seen: new Set(owned && memory ? [wanted] : []),
    isChanged: memory === undefined || isOtherRule || isIgnored,
    foreignStart: isNewRule || (memory && isForeign(memory) && value !== undefined) ? { value } : undefined,
    owner: memory?.owner,
    person: memory?.owner?.person,
    ...{ isLeft: false, isLeftSinceCheck: false, isReset: false },
    possible: new Set([
      ...(memory || !isRuled ? [value] : []),
      ...(field === 'archived' && memory?.isKeptActive ? ['false'] : []),
    ]),
    sent: new Set(owned && memory ? [wanted] : []),
    untouched: memory !== undefined && !memory.owner ? { value } : undefined,
    isSentUnknown:
      (memory?.isRestored === true && memory.isWithoutRules && owned && wanted === undefined) ||
      (memory?.owner !== undefined && memory.isWithoutRules && (!owned || value !== wanted)),
  };
}

/** True if the values of a traveler may be somebody else's: it was created by hand, or the database was restored since they were sent. */
function isForeign({ owner, isRestored }: RememberedTraveler): boolean {
  return !owner || isRestored;
}

function applyStranger(track: FieldTrack, value: Value): void {
  Object.assign(track, { drift: new Set([value]), owned: false, wanted: undefined, isWantedAllowed: false });
  Object.assign(track, { isChanged: false, foreignStart: { value }, owner: undefined, untouched: { value } });
  track.possible.add(value);
}

function applyEdit(track: FieldTrack, value: Value, { drift }: History, isExhausted: boolean): void {
  track.replaced = new Set();
  track.possible = new Set(track.isLeftSinceCheck ? [value] : [...track.possible, value]);
  if (!track.owned) {
    track.drift = new Set([value]);
    if (track.isChanged && track.isWantedAllowed) return;
    track.isWantedAllowed = false;
    return;
  }
  const isSame = value === track.wanted;
  track.isWantedAllowed = track.isChanged || isSame || drift === 'correct';
  const isKept = drift === 'report' || isExhausted || track.wanted === undefined;
  track.drift = new Set(isSame || !isKept ? [] : [value]);
}

function applyWrite(
  track: FieldTrack,
  field: Field,
  event: Extract<HistoryEvent, { kind: 'write' }>,
  apply: (stated: Stated) => void,
): void {
  const { wanted, verb, standing } = event;
  if (verb === 'POST' && wanted)
    applyReturn(track, { connection: event.connection, wanted, person: event.person });
  if (verb === 'DELETE' || verb === 'POST') {
    track.isChanged = true;
    if (track.owned) track.isWantedAllowed = true;
  }
  const { before } = event;
  const isReactivated = verb !== 'POST' && wanted?.active === true && before?.active === false;
  if (isReactivated && before.externalId !== wanted.externalId) {
    track.drift = new Set();
    Object.assign(track, { owned: true, isWantedAllowed: true, isChanged: true, isReset: true });
  }
  if (event.isInPause) {
    track.isWantedAllowed = true;
    // The attempt that compares it with the traveler may come after an edit. A PATCH states the fields that it changes, and `active`.
    if (track.owned && (verb === 'PUT' || field === 'archived')) track.isChanged = true;
  }
  if (!wanted) {
    Object.assign(track, { isLeft: false, isLeftSinceCheck: false });
    if (field === 'archived') applyWanted(track, 'true');
    return;
  }
  if (track.owner) track.owner = { ...track.owner, externalId: wanted.externalId };
  apply({ wanted, standing });
}

/** A person who takes another's place, or comes from another connection, may get a traveler that was reset. */
function applyReturn(
  track: FieldTrack,
  { connection, wanted, person }: { connection: ConnectionName; wanted: WantedUser; person: number },
): void {
  const { owner } = track;
  if (owner && (owner.externalId !== wanted.externalId || track.person !== person)) {
    if (owner.connection === connection && track.person === person) track.drift = new Set();
    Object.assign(track, { owned: true, isWantedAllowed: true, isReset: true });
    if (track.person !== person) track.wanted = undefined;
  }
  track.person = person;
  if (owner) track.owner = { connection, externalId: wanted.externalId };
}

function applyWanted(track: FieldTrack, value: Value): void {
  track.possible.add(value);
  track.sent.add(value);
  if (!track.owned) {
    if (value === undefined) return;
    Object.assign(track, { owned: true, wanted: value, isWantedAllowed: true, isChanged: true });
    if (!track.isSentUnknown) track.drift = new Set();
    track.isSentUnknown = false;
    track.seen.add(value);
    return;
  }
  if (value === track.wanted) return;
  // The value between the two may never have been sent, and neither may one that was sent before a restore.
  const isKnown = track.seen.has(value) || track.isSentUnknown;
  Object.assign(track, { isWantedAllowed: true, isChanged: true, isSentUnknown: false, wanted: value });
  if (isKnown) {
    track.drift = new Set([...track.drift, ...track.replaced]);
  } else {
    track.replaced = track.drift;
    track.drift = new Set();
  }
  track.seen.add(value);
  if (value === undefined && track.foreignStart) track.drift.add(track.foreignStart.value);
}
