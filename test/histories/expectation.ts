import type { ConnectionName } from './idp.ts';
import { type Field, hasRule, type MappedAttribute, type Value, wantedValue } from './traveler-fields.ts';
import type { Wish } from './wish.ts';

/** What happened to people and travelers since the last rest, in order. */
export type Event =
  | {
      kind: 'wish';
      person: number;
      connection: ConnectionName;
      verb: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      wish: Wish | undefined;
      before: Wish | undefined;
      /** The person never wanted this address before. */
      isNewEmail: boolean;
    }
  | { kind: 'edit'; traveler: string; field: Field | 'email'; value: Value }
  | { kind: 'stranger'; traveler: string; person: number; values: Partial<Record<Field, Value>> }
  | { kind: 'vanish'; traveler: string; person: number };

/** A traveler as it was found right at the last rest. */
export interface Remembered {
  fields: Record<Field, Value>;
  email: string;
  isAdmin: boolean;
  /** What the IdP wanted then, by field; a field that is not in it is owned by nobody. */
  wanted: Map<Field, Value>;
  /** The last person who was linked to it; undefined for one who was made by hand and never linked. */
  owner: { person: number; connection: ConnectionName; externalId: string } | undefined;
  /** True for one who was linked between two rests: nobody knows which fields are owned. */
  isUncertain: boolean;
  /** True while somebody has taken a leaver's traveler back into use by hand. */
  isActiveByHand: boolean;
  /** Its person had left; whoever gets it back need not be somebody else. */
  isLeftBehind: boolean;
}

/** What the travel service's rules were at the last rest, and what they are. */
export interface RuleChange {
  before: ReadonlySet<MappedAttribute>;
  now: ReadonlySet<MappedAttribute>;
}

export interface History {
  events: readonly Event[];
  rules: RuleChange;
  drift: 'report' | 'correct';
  /** How often each field of each traveler was edited by hand since the beginning. */
  edits: ReadonlyMap<string, number>;
}

/** Which values a field may have at rest, and what is wanted; `any` where the contract does not decide. */
export interface Expectation {
  allowed: ReadonlySet<Value> | 'any';
  /** Undefined: nobody owns the field. */
  wanted: { value: Value } | undefined;
}

/** More corrections of one field in an hour are not made. */
const CORRECTIONS = 3;

interface Track {
  /** Values of others that may still be there. */
  drift: Set<Value>;
  /** The values set by hand that a new value of the IdP replaces, if that one is ever sent. */
  replaced: Set<Value>;
  owned: boolean;
  wanted: Value;
  /** Whether the wanted value may be there. */
  isWantedAllowed: boolean;
  /** Every value that was wanted: a change back to one of them may never reach the travel API. */
  seen: Set<Value>;
  isChanged: boolean;
  /** The value that a traveler had who was not ours at the beginning. */
  foreignStart: { value: Value } | undefined;
  owner: { connection: ConnectionName; externalId: string } | undefined;
  person: number | undefined;
}

/** A traveler with the person who is linked to it now. */
export interface Linked {
  traveler: string;
  person: number;
  /** What the person is to be; undefined after they left. */
  wish: Wish | undefined;
  memory: Remembered | undefined;
}

/** Plays the events over one field of a traveler that is now linked to this person. */
export function expectationOf(
  field: Field,
  { traveler, person, wish, memory }: Linked,
  history: History,
): Expectation {
  const { rules, events } = history;
  const isRuled = hasRule(field, rules.now);
  if (hasRule(field, rules.before) && !isRuled) return { allowed: 'any', wanted: undefined };
  const track = begin(field, memory, { isNewRule: isRuled && !hasRule(field, rules.before) });
  for (const event of events) {
    if (event.kind === 'stranger' && event.traveler === traveler) stranger(track, event.values[field]);
    if (event.kind === 'edit' && event.traveler === traveler && event.field === field)
      edit(track, event.value, history, (history.edits.get(`${traveler} ${field}`) ?? 0) > CORRECTIONS);
    if (event.kind === 'wish' && event.person === person) follow(track, field, event, isRuled);
  }
  // Whoever came by the traveler without a POST, as their own vanished, may have had it reset, too.
  if (track.owner && (track.person !== person || memory?.isLeftBehind))
    Object.assign(track, { owned: true, isWantedAllowed: true });
  if (isRuled && wish) want(track, wantedValue(field, wish));
  const allowed = new Set(track.drift);
  if (track.isWantedAllowed) allowed.add(track.wanted);
  const isCertain = memory?.isUncertain !== true;
  return {
    allowed: isCertain ? allowed : 'any',
    wanted: track.owned && isRuled ? { value: track.wanted } : undefined,
  };
}

function begin(field: Field, memory: Remembered | undefined, { isNewRule }: { isNewRule: boolean }): Track {
  const value = memory?.fields[field];
  const owned = memory ? memory.wanted.has(field) : true;
  const wanted = memory?.wanted.get(field);
  const isDrifted = memory !== undefined && !(owned && value === wanted);
  return {
    drift: new Set(isDrifted ? [value] : []),
    replaced: new Set(),
    owned: owned || isNewRule,
    wanted,
    isWantedAllowed: !isDrifted || isNewRule,
    seen: new Set(owned && memory ? [wanted] : []),
    isChanged: memory === undefined || isNewRule,
    foreignStart: isNewRule || (memory && !memory.owner && value !== undefined) ? { value } : undefined,
    owner: memory?.owner,
    person: memory?.owner?.person,
  };
}

function stranger(track: Track, value: Value): void {
  Object.assign(track, { drift: new Set([value]), owned: false, wanted: undefined, isWantedAllowed: false });
  Object.assign(track, { isChanged: false, foreignStart: { value }, owner: undefined });
}

function edit(track: Track, value: Value, { drift }: History, isExhausted: boolean): void {
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

function follow(track: Track, field: Field, event: Extract<Event, { kind: 'wish' }>, isRuled: boolean): void {
  const { wish, verb } = event;
  if (verb === 'POST' && wish) arrive(track, { connection: event.connection, wish, person: event.person });
  if (verb === 'DELETE' || verb === 'POST') {
    track.isChanged = true;
    if (track.owned) track.isWantedAllowed = true;
  }
  const { before } = event;
  const isReactivated = verb !== 'POST' && wish?.active === true && before?.active === false;
  if (isReactivated && before.externalId !== wish.externalId) {
    track.drift = new Set();
    Object.assign(track, { owned: true, isWantedAllowed: true, isChanged: true });
  }
  if (!isRuled) return;
  if (!wish) {
    if (field === 'archived') want(track, 'true');
    return;
  }
  if (track.owner) track.owner = { ...track.owner, externalId: wish.externalId };
  want(track, wantedValue(field, wish));
}

/** A person who comes in another's place, or comes from another connection, may find the traveler reset. */
function arrive(
  track: Track,
  { connection, wish, person }: { connection: ConnectionName; wish: Wish; person: number },
): void {
  const { owner } = track;
  if (owner && (owner.externalId !== wish.externalId || track.person !== person)) {
    if (owner.connection === connection && track.person === person) track.drift = new Set();
    Object.assign(track, { owned: true, isWantedAllowed: true });
    if (track.person !== person) track.wanted = undefined;
  }
  track.person = person;
  if (owner) track.owner = { connection, externalId: wish.externalId };
}

function want(track: Track, value: Value): void {
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
