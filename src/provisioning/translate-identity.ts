import type { ScimResource } from '../schema/resource.ts';
import { toTravel } from '../translator/to-travel.ts';
import type { Translation } from '../translator/translation.ts';
import type { Connection } from './connection.ts';
import type { Identity } from './identity.ts';
import type { WantedFields } from './reconcile-context.ts';
import { type ResolvedReferences, resolveReferences } from './references.ts';
import type { RulesSnapshot, RulesSnapshots } from './rules-snapshot.ts';
import type { Identities, ReferenceRow, References } from './store-ports.ts';
import type { TravelFailure } from './travel-ports.ts';

/** The part of the store that a translation reads references from and saves them to. */
export interface TranslateDeps {
  identities: Pick<Identities, 'findById' | 'find'>;
  references: Pick<References, 'findRows' | 'save' | 'update'>;
}

/** An identity's translation, with the rules and references that it was made with. */
export interface TranslatedIdentity {
  rulesSnapshot: RulesSnapshot;
  resolved: ResolvedReferences;
  translation: Translation;
  /** The fields that `Origin.baseline` translates to; undefined if the identity has no baseline. */
  baseline: WantedFields | undefined;
}

/** A translation that has used no reference and no applied field, and the rules snapshot that it was made with. */
export interface NewUserTranslation {
  rulesSnapshot: RulesSnapshot;
  translation: Translation;
}

/** Translates a user who has no traveler yet. The manager stays unresolved. */
export function translateNewUser(rulesSnapshot: RulesSnapshot, desired: ScimResource): NewUserTranslation {
  const { rules, lookups } = rulesSnapshot;
  return { rulesSnapshot, translation: toTravel(rules, desired, { lookups, references: new Map() }) };
}

/** An identity, and its stored references and its translation as a new user if they are known. */
interface TranslationSource {
  identity: Identity;
  references?: ReferenceRow[] | undefined;
  newUser?: NewUserTranslation | undefined;
}

/**
 * Translates the desired state of an identity to travel fields, with the rules and lookups in force of this generation
 * or a later one.
 * If a value is missing from the lookups, reads the lookups again and translates once more. Returns a failure if the
 * lookups could never be read.
 */
export async function translateIdentity(
  deps: TranslateDeps & { rulesSnapshots: Pick<RulesSnapshots, 'current' | 'refresh'> },
  { connection, generation, ...source }: { connection: Connection; generation: number } & TranslationSource,
): Promise<TranslatedIdentity | TravelFailure> {
  const rulesSnapshot = await deps.rulesSnapshots.current(connection, generation);
  if ('kind' in rulesSnapshot) return rulesSnapshot;
  const { policies } = connection;
  const first = await translateWith(deps, { ...source, policies }, rulesSnapshot);
  if (!first.translation.needsFreshLookups) return first;
  const fresh = await deps.rulesSnapshots.refresh(connection);
  if ('kind' in fresh || fresh.version === rulesSnapshot.version) return first;
  const { before, stored } = first.resolved;
  const again = await translateWith(deps, { ...source, policies, references: stored }, fresh);
  return { ...again, resolved: { ...again.resolved, before } };
}

async function translateWith(
  deps: TranslateDeps,
  source: TranslationSource & Pick<Connection, 'policies'>,
  rulesSnapshot: RulesSnapshot,
): Promise<TranslatedIdentity> {
  const { identity, newUser, policies } = source;
  const resolved = await resolveReferences(deps, { ...source, ...policies }, rulesSnapshot.rules);
  const snapshot = {
    lookups: rulesSnapshot.lookups,
    references: resolved.references,
    applied: identity.applied,
    countedParts: identity.origin.countedParts,
  };
  const { desired, origin } = identity;
  const baseline = origin.baseline && toTravel(rulesSnapshot.rules, origin.baseline, snapshot).fields;
  // The translation of a user without a manager is the same with resolved references.
  const isKnown = newUser?.rulesSnapshot === rulesSnapshot && resolved.references.size === 0;
  const translation = isKnown ? newUser.translation : toTravel(rulesSnapshot.rules, desired, snapshot);
  return { rulesSnapshot, resolved, translation, baseline };
}
