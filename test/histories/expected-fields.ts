import type { ConnectionName } from './identity-providers.ts';
import { type Field, type FieldRules, ruleOf, type Value } from './traveler-fields.ts';
import type { WantedUser } from './wanted-user.ts';

/** One event since the last check; the events are in order. */
export type HistoryEvent =
  | {
      kind: 'write';
      person: number;
      connection: ConnectionName;
      verb: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      wanted: WantedUser | undefined;
      before: WantedUser | undefined;
      /** The person never wanted this address before. */
      isNewEmail: boolean;
      /** The connection was paused: what the IdP stated is compared with the traveler, whatever was sent before. */
      isInPause: boolean;
    }
  | { kind: 'edit'; traveler: string; field: Field | 'email'; value: Value }
  | { kind: 'stranger'; traveler: string; person: number; values: Partial<Record<Field, Value>> }
  | { kind: 'vanish'; traveler: string; person: number };

/** A traveler as it was, without violations, at the last check. */
export interface RememberedTraveler {
  fields: Record<Field, Value>;
  email: string;
  isAdmin: boolean;
  /** The values that the IdP wanted, by field. A field without an entry is not owned. */
  wanted: Map<Field, Value>;
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
  /** True if an admin had discarded the rules for its person: what it was then, nobody had corrected. */
  isWithoutRules: boolean;
}

/** The rules in force at the last check, and now. */
export interface RuleChange {
  before: FieldRules;
  now: FieldRules;
  /** Fields whose rules an admin has not let everybody follow since the last check, or before it. */
  undecided: ReadonlySet<Field>;
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
}

/** A traveler with the person that is linked to it now. */
export interface LinkedTraveler {
  traveler: string;
  person: number;
  /** The wanted user; undefined after the person left. */
  wanted: WantedUser | undefined;
  memory: RememberedTraveler | undefined;
}

/** Applies the events to one field of a linked traveler, and returns the values that it may have. */
export function expectedValues(
  field: Field,
  { traveler, person, wanted, memory }: LinkedTraveler,
  history: History,
): ExpectedValues {
  const { rules, events } = history;
  const [before, rule] = [ruleOf(field, rules.before), ruleOf(field, rules.now)];
  const isUndecided = rules.undecided.has(field);
  if ((before && !rule) || (isUndecided && rules.isDiscarded)) return { allowed: 'any', wanted: undefined };
  const isNewRule = rule !== undefined && (!before || isUndecided);
  const track = newTrack(field, memory, { isNewRule, isOtherRule: rule !== before || isUndecided });
  for (const event of events) {
    if (event.kind === 'stranger' && event.traveler === traveler) applyStranger(track, event.values[field]);
    if (event.kind === 'edit' && event.traveler === traveler && event.field === field)
      applyEdit(track, event.value, history, (history.edits.get(`${traveler} ${field}`) ?? 0) > CORRECTIONS);
    if (event.kind === 'write' && event.person === person) applyWrite(track, field, event, rule);
  }
  // A person who got the traveler without a POST, as the own one had vanished, may have had it reset, too.
  if (track.owner && (track.person !== person || memory?.isLeftBehind))
    Object.assign(track, { owned: true, isWantedAllowed: true });
  if (rule && wanted) applyWanted(track, rule(wanted));
  const allowed = new Set(track.drift);
  if (track.isWantedAllowed) allowed.add(track.wanted);
  const isCertain = memory?.isUncertain !== true;
  return {
    allowed: isCertain ? allowed : 'any',
    wanted: track.owned && rule ? { value: track.wanted } : undefined,
  };
}

function newTrack(
  field: Field,
  memory: RememberedTraveler | undefined,
  { isNewRule, isOtherRule }: { isNewRule: boolean; isOtherRule: boolean },
): FieldTrack {
  const value = memory?.fields[field];
  const owned = memory ? memory.wanted.has(field) : true;
  const wanted = memory?.wanted.get(field);
  const isDrifted = memory !== undefined && !(owned && value === wanted);
  return {
    drift: new Set(isDrifted ? [value] : []),
    replaced: new Set(),
    owned: owned || isNewRule,
    wanted,
    isWantedAllowed: !isDrifted || isOtherRule || memory.isWithoutRules,
    seen: new Set(owned && memory ? [wanted] : []),
    isChanged: memory === undefined || isOtherRule,
    foreignStart: isNewRule || (memory && isForeign(memory) && value !== undefined) ? { value } : undefined,
    owner: memory?.owner,
    person: memory?.owner?.person,
  };
}

/** True if the values of a traveler may be somebody else's: it was created by hand, or the database was restored since they were sent. */
function isForeign({ owner, isRestored }: RememberedTraveler): boolean {
  return !owner || isRestored;
}

function applyStranger(track: FieldTrack, value: Value): void {
  Object.assign(track, { drift: new Set([value]), owned: false, wanted: undefined, isWantedAllowed: false });
  Object.assign(track, { isChanged: false, foreignStart: { value }, owner: undefined });
}

function applyEdit(track: FieldTrack, value: Value, { drift }: History, isExhausted: boolean): void {
  track.replaced = new Set();
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
  rule: ReturnType<typeof ruleOf>,
): void {
  const { wanted, verb } = event;
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
    Object.assign(track, { owned: true, isWantedAllowed: true, isChanged: true });
  }
  if (event.isInPause) track.isWantedAllowed = true;
  if (!rule) return;
  if (!wanted) {
    if (field === 'archived') applyWanted(track, 'true');
    return;
  }
  if (track.owner) track.owner = { ...track.owner, externalId: wanted.externalId };
  applyWanted(track, rule(wanted));
}

/** A person who takes another's place, or comes from another connection, may get a traveler that was reset. */
function applyReturn(
  track: FieldTrack,
  { connection, wanted, person }: { connection: ConnectionName; wanted: WantedUser; person: number },
): void {
  const { owner } = track;
  if (owner && (owner.externalId !== wanted.externalId || track.person !== person)) {
    if (owner.connection === connection && track.person === person) track.drift = new Set();
    Object.assign(track, { owned: true, isWantedAllowed: true });
    if (track.person !== person) track.wanted = undefined;
  }
  track.person = person;
  if (owner) track.owner = { connection, externalId: wanted.externalId };
}

function applyWanted(track: FieldTrack, value: Value): void {
  if (!track.owned) {
    if (value === undefined) return;
    Object.assign(track, { owned: true, wanted: value, isWantedAllowed: true, isChanged: true });
    track.drift = new Set();
    track.seen.add(value);
    return;
  }
  if (value === track.wanted) return;
  Object.assign(track, { isWantedAllowed: true, isChanged: true, wanted: value });
  if (track.seen.has(value)) {
    // The value between the two may never have been sent.
    track.drift = new Set([...track.drift, ...track.replaced]);
  } else {
    track.replaced = track.drift;
    track.drift = new Set();
  }
  track.seen.add(value);
  if (value === undefined && track.foreignStart) track.drift.add(track.foreignStart.value);
}
