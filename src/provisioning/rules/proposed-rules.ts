import type { Runtime } from '../../model/runtime-ports.ts';
import type { ScimUserMapping } from '../../model/translation.ts';
import type { ProposalStore, ProposedRules } from '../../store/queues/proposed-rules.ts';
import type { RulesInForce, RulesStore } from '../../store/queues/rules-in-force.ts';
import type { Mapping, MappingSource } from '../../translator/mapping/mapping-file.ts';
import { compileRules, EDITION } from '../../translator/rules/rules.ts';
import { defaultMapping, digestOf, mappingOf } from './mapping-versions.ts';
import { contentOf } from './rules-snapshot.ts';

/** Rules that would change values of more people than this wait until an admin accepts them. */
export const MAX_PEOPLE = 100;

export interface ProposalDeps {
  rules: RulesStore & ProposalStore;
  runtime: Pick<Runtime, 'now'>;
}

/** What is proposed: a mapping, or other rules of the travel service beside the mapping. */
export type ProposedPart =
  | {
      mapping: Mapping;
      source: MappingSource;
      author: string | undefined;
      putBackSince?: number | undefined;
    }
  | { collection: ScimUserMapping[] };

/** Returns a digest that is equal for the same rows in any order. */
export function digestOfCollection(rows: ScimUserMapping[]): string {
  return compileRules(defaultMapping, rows).version;
}

/** True if new rules come into force at once, because they can change nobody or few people: in shadow mode only those of the pilot. */
export async function areInForceAtOnce(
  { rules }: Pick<ProposalDeps, 'rules'>,
  connection: string,
): Promise<boolean> {
  return (await rules.countFollowers(connection, MAX_PEOPLE + 1)) <= MAX_PEOPLE;
}

/**
 * Proposes a mapping or a collection, beside the other of the two if that is proposed already. A file or a collection that was discarded stays
 * so until its content changes. What is in force is not proposed, and withdraws what was.
 */
export async function proposeRules(
  { rules, runtime }: ProposalDeps,
  connection: string,
  { inForce, part }: { inForce: RulesInForce; part: ProposedPart },
): Promise<ProposedRules | undefined> {
  const { proposed: before, discardedMapping, discardedCollection } = await rules.findProposals(connection);
  const isDiscarded =
    'mapping' in part
      ? part.source === 'file' && digestOf(part.mapping) === discardedMapping
      : digestOfCollection(part.collection) === discardedCollection;
  if (isDiscarded) return before;
  const proposed = toProposal({ inForce, before, part, now: runtime.now() });
  if (proposed?.digest === before?.digest) return before;
  await rules.propose(connection, proposed);
  return proposed;
}

function toProposal({
  inForce,
  before,
  part,
  now,
}: {
  inForce: RulesInForce;
  before: ProposedRules | undefined;
  part: ProposedPart;
  now: number;
}): ProposedRules | undefined {
  const { source, putBackSince } = before ?? inForce;
  const base = { source, putBackSince, author: before?.author, collection: before?.collection };
  const { collection, ...named } = { ...base, ...part };
  const mapping = 'mapping' in part ? part.mapping : mappingOf(before ?? inForce);
  if (!mapping) return undefined;
  const own = inForce.lookups?.scimUserMappings ?? [];
  const isOwn = collection === undefined || digestOfCollection(collection) === digestOfCollection(own);
  const mappingDigest = digestOf(mapping);
  const isPutBack = named.putBackSince !== undefined && named.putBackSince !== inForce.putBackSince;
  if (isOwn && mappingDigest === inForce.digest && !isPutBack) return undefined;
  const digest = compileRules(mapping, isOwn ? own : collection).version;
  return {
    ...{ source: named.source, author: named.author, putBackSince: named.putBackSince },
    ...{ digest: isPutBack ? `${digest}.${named.putBackSince}` : digest, edition: EDITION },
    ...{ mapping, mappingDigest, collection: isOwn ? undefined : collection, since: now, people: undefined },
  };
}

/** Returns the rules that come into force if proposed ones are accepted. */
export function acceptedRules(inForce: RulesInForce, proposed: ProposedRules): RulesInForce | undefined {
  const mapping = mappingOf(proposed);
  const { collection: scimUserMappings, source, putBackSince } = proposed;
  const { lookups, generation } = inForce;
  return (
    mapping && {
      ...{ ...contentOf(mapping), source, putBackSince, generation: generation + 1 },
      lookups: lookups && scimUserMappings ? { ...lookups, scimUserMappings } : lookups,
    }
  );
}

/** Puts proposed rules in force. Returns undefined if others are proposed, or these were counted, by now. */
export async function acceptRules(
  { rules, runtime }: ProposalDeps,
  connection: string,
  proposed: ProposedRules,
): Promise<RulesInForce | undefined> {
  for (;;) {
    const inForce = await rules.find(connection);
    const next = inForce && acceptedRules(inForce, proposed);
    if (!next) return undefined;
    if (await rules.accept(connection, proposed, next, runtime.now())) return next;
    const { proposed: now } = await rules.findProposals(connection);
    if (now?.digest !== proposed.digest || now.people !== proposed.people) return undefined;
  }
}

/** Discards proposed rules. Returns false if others are proposed by now. */
export function discardRules(
  { rules }: Pick<ProposalDeps, 'rules'>,
  connection: string,
  proposed: ProposedRules,
) {
  const { collection } = proposed;
  return rules.discard(connection, proposed, collection && digestOfCollection(collection));
}
