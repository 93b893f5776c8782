import type { CountedMembership } from '../../model/group-ports.ts';
import type { Identity } from '../../model/identity.ts';
import type { SafetyValve } from '../../model/policies.ts';
import type {
  Announcement,
  Identities,
  IdentityChange,
  IdentityMatch,
  ReferenceRow,
} from '../../model/store-ports.ts';
import type { Lookups } from '../../model/translation.ts';
import type { TravelAnswer, TravelFailure } from '../../model/travel-ports.ts';
import type { TravelerChange, TravelUser } from '../../model/traveler.ts';
import type { RulesSnapshot } from '../rules/rules-snapshot.ts';
import type { FoundReferences } from './wanted/manager-chains.ts';

/**
 * Everything that a reconciliation asks of its surroundings, with what it gets. It concerns the identity that is reconciled, its
 * connection and its travel account, unless the values name another one.
 */
export interface Effects {
  // Reads of the store.
  findIdentity(connection: string, id: string): Identity | undefined;
  findIdentities(connection: string, match: IdentityMatch): Identity[];
  findHolder(match: Parameters<Identities['findHolder']>[1]): Identity | undefined;
  /** True if an active identity other than this one waits for the address. */
  isWaitedFor(email: string): boolean;
  isErased(travelId: string): boolean;
  /** Returns the ids of the identities that refer to this one, or by one of these values. */
  findReferrers(values: string[]): string[];
  findReferences(): ReferenceRow[];
  /** Returns the groups of the user, and those of named groups that are gone. */
  findMemberships(): CountedMembership[];
  /** Returns those of the names that no group of the connection has. */
  findUnknownGroups(names: readonly string[]): string[];

  // Calls of the travel API, and reads of what is kept from earlier ones.
  readRules(generation: number): RulesSnapshot | TravelFailure;
  refreshRules(): RulesSnapshot | TravelFailure;
  /** Reads the lookups again, however recent they are. */
  refreshLookups(): TravelAnswer<Lookups>;
  readOwnUser(): TravelAnswer<TravelUser>;
  findTravelers(emails: string[]): TravelAnswer<TravelUser[]>;
  readTraveler(id: string): TravelAnswer<TravelUser>;
  /** The key is equal if the same create is repeated. A profile whose travel API knows such keys sends it, and the others do not. */
  createTraveler(traveler: TravelerChange, key: string): TravelAnswer<TravelUser>;
  /** Sends the change. It commits nothing: `announce` does so before. */
  patchTraveler(id: string, change: TravelerChange): TravelAnswer<TravelUser>;
  removeTraveler(id: string): TravelAnswer<unknown>;

  // Writes of the store.
  /** Commits a call before it is sent: with the write of the IdP if that is not committed yet, else by `Leases.announce`. `lost` also means that the commit took too long, and the call must not be sent. */
  announce(announcement: Announcement): 'done' | 'lost' | 'taken';
  /** Saves at once that this identity waits for the address: from then on, freeing the address makes it dirty. */
  waitForEmail(email: string): void;
  /** Counts a departure against the safety valve; false if it must be held. */
  admitDeparture(valve: SafetyValve): boolean;
  noteSuccessor(note: Extract<IdentityChange, { kind: 'noteSuccessor' }>): void;
  /** Has an identity tried whose traveler has an address that this one needs (`ReconcileQueue.askForEmail`). */
  askForEmail(holder: Pick<Identity, 'connection' | 'id'>, email: string): void;
  saveReferences(rows: ReferenceRow[]): void;
  /** Saves the targets that were found, without those that would close a cycle of managers, and returns what is stored then. */
  linkReferences(found: FoundReferences): ReferenceRow[];

  newId(): string;
}

type EffectKind = keyof Effects;

/** An effect as a value: which one, and with which values. */
export type Effect = { [Kind in EffectKind]: { kind: Kind; values: Parameters<Effects[Kind]> } }[EffectKind];

/**
 * A computation that yields effects, gets their results, and returns a result of its own. It has no other access to the store, the travel
 * API, the clock or chance, so that whatever runs it decides when and whether each effect happens.
 */
export type Program<T> = Generator<Effect, T, unknown>;

/** Asks for one effect, and returns its result. */
export function* perform<Kind extends EffectKind>(
  kind: Kind,
  ...values: Parameters<Effects[Kind]>
): Program<ReturnType<Effects[Kind]>> {
  return (yield { kind, values } as Effect) as ReturnType<Effects[Kind]>;
}

/** Functions that carry out effects. */
export type Handlers = {
  [Kind in EffectKind]: (
    ...values: Parameters<Effects[Kind]>
  ) => Promise<ReturnType<Effects[Kind]>> | ReturnType<Effects[Kind]>;
};

/** Returns the function that carries out an effect by its handler. Programs that use only some effects need handlers for these. */
export function carriedOutBy(handlers: Partial<Handlers>): (effect: Effect) => unknown {
  return ({ kind, values }) => {
    const handler = handlers[kind] as ((...values: unknown[]) => unknown) | undefined;
    if (!handler) throw new Error(`This program may not use the effect ${kind} here.`);
    return handler(...values);
  };
}

/** A program that waits for the result of an effect, or has ended. */
export type Step<T> = IteratorResult<Effect, T>;

/** Runs a program to its end; `carryOut` returns the result of each effect. Rejects with the first error of an effect. */
export async function run<T>(
  program: Program<T>,
  carryOut: (effect: Effect) => unknown,
  first: Step<T> = program.next(),
): Promise<T> {
  let step = first;
  while (!step.done) step = program.next(await carryOut(step.value));
  return step.value;
}

/** Runs a program to its end, or to the first effect that is not among these. */
export async function runWhile<T>(
  program: Program<T>,
  carryOut: (effect: Effect) => unknown,
  isAmong: (effect: Effect) => boolean,
): Promise<Step<T>> {
  let step = program.next();
  while (!step.done && isAmong(step.value)) step = program.next(await carryOut(step.value));
  return step;
}
