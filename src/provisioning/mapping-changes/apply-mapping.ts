import type { Connection } from '../../model/connection.ts';
import type { MappingVersion, RulesInForce, RulesStore } from '../../store/queues/rules-in-force.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';
import {
  compareMappings,
  defaultMapping,
  digestOf,
  findVersion,
  listVersions,
  type MappingDifference,
} from '../rules/mapping-versions.ts';
import { areInForceAtOnce, proposeRules } from '../rules/proposed-rules.ts';
import { contentOf } from '../rules/rules-snapshot.ts';
import { type DecisionDeps, decideProposal } from './decide-proposal.ts';

/** A mapping to put in force. */
export interface MappingChange {
  mapping: Mapping;
  /** The generation of the version that the admin compared the mapping with; 0 if there was none. */
  expected: number;
  source: 'page' | 'command';
  author: string;
  /** The values of travelers that were replaced since this generation are put back; undefined: they stay. */
  putBackSince?: number | undefined;
}

/** The mapping in force after a change. */
interface InForce {
  /** As in `MappingVersion`. */
  generation: number;
  /** Its number in the history, and that of the mapping before the change; 0 if there was none. */
  version: number;
  before: number;
}

/** The result of a change of mapping. */
export type MappingChangeResult =
  | ({ outcome: 'applied' } & InForce)
  /** Too many people would change, or not all were looked at yet: it waits, and the mapping before it stays in force. */
  | ({ outcome: 'proposed'; digest: string } & InForce)
  /** The same mapping is in force already. */
  | ({ outcome: 'unchanged' } & InForce)
  /** Another admin or a file has replaced the version that the admin compared with. Nothing was changed. */
  | { outcome: 'conflict'; version: MappingVersion; difference: MappingDifference };

/**
 * Puts a mapping in force, unless the version in force is no longer the expected one. If it would change too many people, it waits for an
 * admin; so it does if the signal is aborted before everybody was looked at. New lookups raise the generation of the rules as well, but not
 * that of the mapping, so they are no conflict.
 */
export async function applyMapping(
  deps: DecisionDeps,
  connection: Connection,
  { change, signal }: { change: MappingChange; signal?: AbortSignal | undefined },
): Promise<MappingChangeResult> {
  const { rules } = deps;
  const { mapping, expected, source, author, putBackSince } = change;
  for (;;) {
    const inForce = await rules.find(connection.id);
    // If the mapping is replaced between the two reads, its version is not the expected one.
    const version = await findVersion(rules, connection.id);
    if (version && version.generation !== expected)
      return {
        ...{ outcome: 'conflict', version },
        difference: await differenceSince(rules, { ...change, connection: connection.id }, version),
      };
    const before = version?.number ?? 0;
    const present = { generation: version?.generation ?? inForce?.generation ?? 0, version: before, before };
    const isPutBack = putBackSince === undefined || putBackSince === inForce?.putBackSince;
    if (inForce?.digest === digestOf(mapping) && isPutBack) return { outcome: 'unchanged', ...present };
    if (!inForce || (await areInForceAtOnce(deps, connection.id))) {
      const applied = await replaceMapping(
        deps,
        { ...change, connection: connection.id },
        { inForce, version },
      );
      if (applied) return applied;
      continue;
    }
    const part = { mapping, source, author, putBackSince };
    const proposed = await proposeRules(deps, connection.id, { inForce, part });
    if (!proposed) continue;
    if ((await decideProposal(deps, connection, signal)) !== 'inForce')
      return { outcome: 'proposed', digest: proposed.digest, ...present };
    const now = await findVersion(rules, connection.id);
    return {
      ...{ outcome: 'applied', generation: now?.generation ?? present.generation },
      ...{ version: now?.number ?? before, before },
    };
  }
}

interface Present {
  inForce: RulesInForce | undefined;
  version: MappingVersion | undefined;
}

async function replaceMapping(
  { rules, runtime }: Pick<DecisionDeps, 'rules' | 'runtime'>,
  { connection, mapping, source, author, putBackSince }: PlacedChange,
  { inForce, version }: Present,
): Promise<MappingChangeResult | undefined> {
  const before = version?.number ?? 0;
  const next: RulesInForce = {
    ...{ ...contentOf(mapping), source, lookups: inForce?.lookups, putBackSince },
    generation: (inForce?.generation ?? 0) + 1,
  };
  if (!(await rules.replace(connection, next, runtime.now(), author))) return undefined;
  // The history has the mapping in force already if only values are put back.
  const known = inForce?.digest === next.digest ? version : undefined;
  return {
    ...{ outcome: 'applied', generation: known?.generation ?? next.generation },
    ...{ version: known?.number ?? before + 1, before },
  };
}

type PlacedChange = MappingChange & { connection: string };

async function differenceSince(
  rules: Pick<RulesStore, 'listMappings'>,
  { connection, expected }: PlacedChange,
  { mapping }: MappingVersion,
): Promise<MappingDifference> {
  const versions = await listVersions(rules, connection);
  const before = versions.find(({ generation }) => generation === expected);
  return compareMappings(before?.mapping ?? defaultMapping, mapping);
}
