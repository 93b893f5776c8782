import { parseJsonText } from '../../config/faults.ts';
import type { Connection } from '../../model/connection.ts';
import type { Memberships } from '../../model/group-ports.ts';
import type { Identity } from '../../model/identity.ts';
import type { Identities, References } from '../../model/store-ports.ts';
import type { Lookups, ScimUserMapping, UserGroup } from '../../model/translation.ts';
import type { TravelAnswer } from '../../model/travel-ports.ts';
import type { TravelUser } from '../../model/traveler.ts';
import {
  type MappingPreview,
  type PreviewOptions,
  previewChange,
} from '../../provisioning/mapping-changes/preview-mapping.ts';
import { type PersonPreview, previewPerson } from '../../provisioning/mapping-changes/preview-person.ts';
import { findNameFaults, findUnknownGroups } from '../../provisioning/rules/check-mapping.ts';
import { type RulesSnapshot, toRulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import { findUndeclaredNames } from '../../translator/mapping/extension-names.ts';
import type { MappingFault } from '../../translator/mapping/mapping-faults.ts';
import { type Mapping, type ParsedMapping, parseMapping } from '../../translator/mapping/mapping-file.ts';
import { compileRules } from '../../translator/rules/rules.ts';

// The tasks get and return data only, so that they can run in a thread. The database stays where it is open: a task asks it by `StoredReads`.

/** The reads of the database that a task may ask for. */
export interface StoredReads
  extends Pick<Identities, 'findById' | 'find' | 'findHolder' | 'isErased' | 'isWaitedFor' | 'findPage'> {
  findReferenceRows: References['findRows'];
  findMemberships: Memberships['findOf'];
  findUnknownGroupNames: Memberships['findUnknownNames'];
}

/** A connection without its functions. */
type ConnectionData = Omit<Connection, 'travel' | 'lookups' | 'feed'>;

/** Rules before they are compiled. */
interface RulesData extends Omit<RulesSnapshot, 'rules'> {
  mapping: Mapping;
}

/** The faults of a mapping text, for which nothing was computed. */
interface Faulty {
  faults: MappingFault[];
}

/** The lookups of the travel service, or why they cannot be read. */
export type KnownNames = { lookups: Lookups } | { unchecked: string };

/** The result of a check. `needsNames`: the mapping has names, and no lookups were given. */
export interface CheckedMapping {
  faults: MappingFault[];
  warnings: MappingFault[];
  unchecked?: string | undefined;
  needsNames?: true;
  /** The mapping, unless the text is not one. */
  mapping?: Mapping;
}

/** The input that both previews share: the text of the next mapping, and the mapping in force. */
export interface PreviewInput<Text = string> {
  text: Text;
  connection: ConnectionData;
  inForce: RulesData;
}

/** The tasks: what each gets and returns. */
export interface Tasks {
  check: { input: { text: string; connection: string; names?: KnownNames }; result: CheckedMapping };
  previewPerson: {
    input: PreviewInput & {
      identity: Identity;
      /** The groups that the previewed user states; undefined: the stored ones. */
      groups: UserGroup[] | undefined;
    };
    result: Faulty | PersonPreview;
  };
  previewEverybody: {
    /** Without a text, the mapping in force is compared with what was sent last. */
    input: PreviewInput<string | undefined> & {
      ownUser: TravelAnswer<TravelUser>;
      examples: number;
      putBackSince: number | undefined;
      /** Other rules of the travel service than those in force. */
      collection: ScimUserMapping[] | undefined;
    };
    result: Faulty | MappingPreview;
  };
}

/** The caller of a task, the reads of the database that it may ask for, and the signal that ends it. */
export interface TaskContext {
  /** The account or token. A caller with many tasks does not keep others from theirs. */
  caller: string;
  reads: StoredReads;
  signal: AbortSignal;
}

/** Runs tasks: in a thread or in this process. */
export interface MappingTasks {
  run<Name extends keyof Tasks>(
    name: Name,
    input: Tasks[Name]['input'],
    context: TaskContext,
  ): Promise<Tasks[Name]['result']>;
}

type Run = { [Name in keyof Tasks]: (input: Tasks[Name]['input']) => Promise<Tasks[Name]['result']> };

/** The longest time that a preview of everybody takes, in milliseconds: it ends early when the time is over. And its progress. */
type TaskOptions = { maxMs: number } & Pick<PreviewOptions, 'onBatch'>;

/** Returns the functions that carry out the tasks. */
export function mappingTasks(reads: StoredReads, { maxMs, ...progress }: TaskOptions): Run {
  const stored = {
    identities: reads,
    references: { findRows: reads.findReferenceRows },
    memberships: { findOf: reads.findMemberships, findUnknownNames: reads.findUnknownGroupNames },
  };
  return {
    check: async ({ text, connection, names }) => {
      const parsed = parseText(text);
      if ('faults' in parsed) return { faults: parsed.faults, warnings: [] };
      const { mapping } = parsed;
      let needsNames = false;
      const { faults, unchecked } = await findNameFaults(mapping, async () => {
        needsNames = names === undefined;
        return names ?? { unchecked: '' };
      });
      const unknownGroups = await findUnknownGroups(mapping, (all) =>
        stored.memberships.findUnknownNames(connection, all),
      );
      const warnings = withinLimits([...findUndeclaredNames(mapping), ...unknownGroups]);
      if (needsNames) return { faults: [], warnings, needsNames };
      const ownFaults = faults.filter(({ origin }) => origin === 'file');
      return { faults: withinLimits(ownFaults), warnings, unchecked, mapping };
    },
    previewPerson: async ({ text, connection, inForce, identity, groups }) => {
      const parsed = parseText(text);
      if ('faults' in parsed) return parsed;
      const next = toRulesSnapshot(parsed, inForce.lookups);
      const { account, policies } = connection;
      const person = { identity, groups, account, policies };
      return previewPerson(stored, person, { inForce: compile(inForce), next });
    },
    previewEverybody: async ({ text, connection, inForce, ownUser, examples, putBackSince, collection }) => {
      const parsed = text === undefined ? undefined : parseText(text);
      if (parsed && 'faults' in parsed) return parsed;
      const change = { from: parsed && compile(inForce), to: compile(inForce) };
      const nextLookups = withCollection(inForce.lookups, collection);
      if (parsed) change.to = { ...toRulesSnapshot(parsed, nextLookups), putBackSince };
      const lookups = { ...noCalls<Connection['lookups']>(), readOwnUser: async () => ownUser };
      const readOnly: Connection = { ...connection, travel: noCalls<Connection['travel']>(), lookups };
      const until = performance.now() + maxMs;
      const isOver = () => performance.now() >= until;
      const deps = { ...stored, runtime: { now: () => performance.now() } };
      return previewChange(deps, { connection: readOnly, ...change }, { examples, isOver, ...progress });
    },
  };
}

function parseText(text: string): ParsedMapping {
  const json = parseJsonText(text);
  if (!('json' in json)) return { faults: withinLimits([{ path: '$', ...json }]) };
  const parsed = parseMapping(json.json);
  return 'faults' in parsed ? { faults: withinLimits(parsed.faults) } : parsed;
}

/** A text of 500 KB may have 250,000 faults, which would be 50 MB for the main thread. */
const MAX_FAULTS = 100;
/** The longest path or text of a fault, in characters: both quote the mapping. */
const MAX_FAULT_TEXT = 1_000;

function withinLimits(faults: MappingFault[]): MappingFault[] {
  const cut = (text: string) => (text.length <= MAX_FAULT_TEXT ? text : `${text.slice(0, MAX_FAULT_TEXT)}…`);
  return faults
    .slice(0, MAX_FAULTS)
    .map(({ path, problem, remedy }) => ({ path: cut(path), problem: cut(problem), remedy: cut(remedy) }));
}

function withCollection(lookups: Lookups, collection: ScimUserMapping[] | undefined): Lookups {
  return collection ? { ...lookups, scimUserMappings: collection } : lookups;
}

function compile({ mapping, ...inForce }: RulesData): RulesSnapshot {
  return { ...inForce, rules: compileRules(mapping, inForce.lookups.scimUserMappings) };
}

/** A preview calls nothing in the travel API: a call would fail because the function does not exist. */
function noCalls<T extends object>(): T {
  return {} as T;
}
