import type { ScimResource } from '../../schema/resource.ts';
import { toTravel } from '../../translator/to-travel.ts';
import type { Translation } from '../../translator/translation.ts';
import type { ConnectionSettings } from '../connection.ts';
import type { Identity } from '../identity.ts';
import type { RulesSnapshot } from '../rules/rules-snapshot.ts';
import type { ReferenceRow } from '../store-ports.ts';
import type { TravelFailure } from '../travel-ports.ts';
import type { WantedFields } from './context.ts';
import { type Program, perform } from './effects.ts';
import { type ResolvedReferences, resolveReferences } from './references.ts';

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
export interface TranslationSource {
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
export function* translateIdentity(
  connection: Pick<ConnectionSettings, 'policies'>,
  { generation, ...source }: { generation: number } & TranslationSource,
): Program<TranslatedIdentity | TravelFailure> {
  const rulesSnapshot = yield* perform('readRules', generation);
  if ('kind' in rulesSnapshot) return rulesSnapshot;
  const { policies } = connection;
  const first = yield* translateWith({ ...source, policies }, rulesSnapshot);
  if (!first.translation.needsFreshLookups) return first;
  const fresh = yield* perform('refreshRules');
  if ('kind' in fresh || fresh.version === rulesSnapshot.version) return first;
  const { before, stored } = first.resolved;
  const again = yield* translateWith({ ...source, policies, references: stored }, fresh);
  return { ...again, resolved: { ...again.resolved, before } };
}

function* translateWith(
  source: TranslationSource & Pick<ConnectionSettings, 'policies'>,
  rulesSnapshot: RulesSnapshot,
): Program<TranslatedIdentity> {
  const { identity, newUser, policies } = source;
  const resolved = yield* resolveReferences({ ...source, ...policies }, rulesSnapshot.rules);
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
