import { isDeepStrictEqual } from 'node:util';
import type { CountedMembership } from '../../../model/group-ports.ts';
import type { Identity } from '../../../model/identity.ts';
import type { ReferenceRow } from '../../../model/store-ports.ts';
import type { AppliedFields, Snapshot, Translation } from '../../../model/translation.ts';
import type { TravelFailure } from '../../../model/travel-ports.ts';
import type { ScimResource } from '../../../schema/resource.ts';
import { isStated, withoutStated } from '../../../schema/stated-attributes.ts';
import { toTravel } from '../../../translator/to-travel.ts';
import { dayOf } from '../../../translator/values/dates.ts';
import type { RulesSnapshot } from '../../rules/rules-snapshot.ts';
import type { WantedFields } from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { findNamedMemberships, findUnknownGroups, unresolvedGroupFindings } from './memberships.ts';
import { type ResolvedReferences, resolveReferences, withSentManagers } from './references.ts';

/** An identity's translation, with the rules and references that it was made with. */
export interface TranslatedIdentity {
  rulesSnapshot: RulesSnapshot;
  resolved: ResolvedReferences;
  translation: Translation;
  /** Returns the translation with other applied fields. */
  translateWith(applied: AppliedFields): Translation;
  /** The fields that `Origin.baseline` translates to; undefined if the identity has no baseline. */
  baseline: WantedFields | undefined;
}

/** A translation that has used no reference and no applied field, and the rules snapshot that it was made with. */
export interface NewUserTranslation {
  rulesSnapshot: RulesSnapshot;
  translation: Translation;
}

/** Translates a user who has no traveler yet. The manager stays unresolved. */
export function translateNewUser(
  rulesSnapshot: RulesSnapshot,
  desired: ScimResource,
  { namesUnknownGroup, statedOn }: Pick<Snapshot, 'namesUnknownGroup' | 'statedOn'> = {},
): NewUserTranslation {
  const { rules, lookups } = rulesSnapshot;
  const snapshot = { lookups, references: new Map(), namesUnknownGroup, statedOn };
  return { rulesSnapshot, translation: toTravel(rules, desired, snapshot) };
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
export function* translateIdentity({
  generation,
  ...source
}: { generation: number } & TranslationSource): Program<TranslatedIdentity | TravelFailure> {
  const rulesSnapshot = yield* perform('readRules', generation);
  if ('kind' in rulesSnapshot) return rulesSnapshot;
  const first = yield* translateUnder(source, rulesSnapshot);
  if (!first.translation.needsFreshLookups) return first;
  const fresh = yield* perform('refreshRules');
  if ('kind' in fresh || fresh.version === rulesSnapshot.version) return first;
  const { before, stored } = first.resolved;
  const again = yield* translateUnder({ ...source, references: stored }, fresh);
  return { ...again, resolved: { ...again.resolved, before } };
}

function* translateUnder(
  source: TranslationSource,
  rulesSnapshot: RulesSnapshot,
): Program<TranslatedIdentity> {
  const { identity, newUser } = source;
  const { rules } = rulesSnapshot;
  const resolved = yield* resolveReferences(source, rules);
  const memberships = yield* findNamedMemberships(rules);
  const namesUnknownGroup = yield* findUnknownGroups(rules);
  const { references } = resolved;
  const relations = { references, groups: memberships, namesUnknownGroup };
  const translateWith = (applied: AppliedFields) =>
    translateStored(
      rulesSnapshot,
      { ...identity, applied },
      { ...relations, references: withSentManagers(references, applied) },
    );
  // The translation of a user without a manager and groups is the same with resolved references.
  const isWithoutGroups = !memberships?.length && namesUnknownGroup === undefined;
  const isKnown = newUser?.rulesSnapshot === rulesSnapshot && references.size === 0 && isWithoutGroups;
  const translation = isKnown ? newUser.translation : translateWith(identity.applied);
  const baseline = translateBaseline(rulesSnapshot, identity, { relations, translation });
  return { ...{ rulesSnapshot, resolved, baseline, translateWith }, translation };
}

/** The resolved managers of an identity, and its groups. */
export interface StoredRelations extends Pick<Snapshot, 'references' | 'namesUnknownGroup'> {
  groups: readonly CountedMembership[] | undefined;
}

/** Translates the desired state of an identity, with a finding for each group that is gone and still counts. */
export function translateStored(
  { rules, lookups }: Pick<RulesSnapshot, 'rules' | 'lookups'>,
  identity: Identity,
  relations: StoredRelations,
): Translation {
  const translation = toTravel(rules, identity.desired, { lookups, ...relations, ...partsOf(identity) });
  const unresolved = unresolvedGroupFindings(relations.groups);
  return unresolved.length === 0
    ? translation
    : { ...translation, findings: [...translation.findings, ...unresolved] };
}

/**
 * Translates the user as imported, which was in no group: only the IdP has groups. The user of a restored backup is in its present groups,
 * and a value that the IdP has stated since then is none of the backup any more, so that it is sent.
 */
export function translateBaseline(
  { rules, lookups }: Pick<RulesSnapshot, 'rules' | 'lookups'>,
  identity: Identity,
  { relations, translation }: { relations: StoredRelations; translation: Translation },
): WantedFields | undefined {
  const { baseline, stated } = identity.origin;
  if (!baseline) return undefined;
  const { references } = relations;
  const known = { lookups, ...partsOf(identity), ...(stated ? relations : { references }) };
  const { fields } = toTravel(rules, baseline, known);
  if (!stated) return fields;
  const unstated = toTravel(rules, withoutStated(identity.desired, stated), known).fields;
  const isNew = (key: string) => {
    const wanted = translation.fields[key];
    if (wanted?.kind !== 'value') return false;
    // A user without `active` is active, too.
    const isConfirmed = isStated(stated, key === 'archived' ? ['active'] : []);
    return isConfirmed || (key !== 'archived' && !isDeepStrictEqual(unstated[key], wanted));
  };
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !isNew(key)));
}

/** Returns the parts of a snapshot that are stored with an identity. */
function partsOf({ applied, origin: { countedParts }, lastModified }: Identity) {
  return { applied, countedParts, statedOn: dayOf(lastModified) };
}
