import { isDeepStrictEqual } from 'node:util';
import type { Connection } from '../../model/connection.ts';
import type { RulesForGroups } from '../../model/group-ports.ts';
import type { Log, Runtime } from '../../model/runtime-ports.ts';
import { type Lookups, noLookups } from '../../model/translation.ts';
import type { TravelAnswer, TravelFailure } from '../../model/travel-ports.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { cleanValue } from '../../schema/clean-text.ts';
import type { ProposalStore } from '../../store/queues/proposed-rules.ts';
import type { RulesHead, RulesInForce, RulesStore } from '../../store/queues/rules-in-force.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';
import { checkNames, type NameFault } from '../../translator/rules/check-names.ts';
import { groupsOfScope, groupTest, isNamedGroup } from '../../translator/rules/named-groups.ts';
import { compileRules, EDITION, type Rules } from '../../translator/rules/rules.ts';
import { logFaultChanges } from './check-mapping.ts';
import type { ConfiguredMapping } from './configured-mapping.ts';
import { defaultMapping, digestOf, findVersion, mappingOf, wasInForce } from './mapping-versions.ts';
import { areInForceAtOnce, proposeRules } from './proposed-rules.ts';
import {
  compileSnapshot,
  contentOf,
  isUsable,
  type RulesSnapshot,
  toRulesSnapshot,
  withPilot,
} from './rules-snapshot.ts';

/**
 * A mapping file whose content was in force before comes into force again when no replica has had the file of the
 * mapping in force for this time, in milliseconds: all files were changed back. Replicas with different files
 * therefore do not replace each other's rules.
 */
const FILE_ABSENT_MS = 5 * 60_000;
/** A replica with the file of the mapping in force records so at this interval, in milliseconds. */
const FILE_RECORD_MS = 2 * 60_000;

/** The result of reading a mapping file again. */
export interface MappingFileResult {
  /** `replaced`: the file has not changed, and another mapping has replaced it since. `proposed`: it waits until people are counted. */
  outcome: 'applied' | 'unchanged' | 'replaced' | 'proposed';
  /** The number of the mapping in force in its history. */
  version: number;
}

interface RulesSnapshotsDeps {
  rules: RulesStore & ProposalStore;
  configuredMappingOf(connection: string): ConfiguredMapping;
  runtime: Pick<Runtime, 'now'> & { log: Pick<Log, 'info' | 'warn'> };
}

/** The rules in force as this process has loaded them. */
interface LoadedRules {
  inForce: RulesInForce;
  /** Undefined if the lookups were never read, or the rules belong to another version of Jetbridge. */
  snapshot: RulesSnapshot | undefined;
  /** The reading of the lookups that was compared last. */
  reading: Lookups | undefined;
}

/** What this process knows of a connection. */
interface Known {
  loaded?: LoadedRules;
  faults?: NameFault[];
  /** The mapping file, if it was read again since the start. */
  file?: Mapping;
  /** Set if the mapping file was reported as not applied. */
  isReported?: boolean;
}

type State = RulesSnapshotsDeps & { known: Map<string, Known> };

export type RulesSnapshots = ReturnType<typeof rulesSnapshots>;

/**
 * Creates the snapshots of the connections. The store decides which rules are in force; rules are compiled once for each generation,
 * and each fault of a mapping is logged once.
 */
export function rulesSnapshots(deps: RulesSnapshotsDeps) {
  const state: State = { ...deps, known: new Map() };
  const running = new Map<string, Promise<LoadedRules>>();
  // Concurrent callers share one reading of the rules in force.
  const reload = (connection: Connection): Promise<LoadedRules> => {
    const known = running.get(connection.id);
    if (known) return known;
    const loading = loadRules(state, connection).finally(() => running.delete(connection.id));
    running.set(connection.id, loading);
    return loading;
  };
  const load = async (connection: Connection, generation: number): Promise<LoadedRules> => {
    const known = knownOf(state, connection).loaded;
    if (known && known.inForce.generation >= generation) return known;
    const shared = await reload(connection);
    // A reading that began earlier may have missed the generation.
    return shared.inForce.generation >= generation ? shared : reload(connection);
  };
  /** Reads the lookups, and puts them in force if they differ. Reads them again if the rules have changed meanwhile. */
  const follow = (connection: Connection, known: LoadedRules, read: () => Promise<TravelAnswer<Lookups>>) =>
    followReading({ state, load }, connection, { known, read });
  return {
    /**
     * Returns the recent snapshot, of this generation or a later one; a failure only if the lookups were never read, or if
     * the rules in force belong to another version of Jetbridge.
     */
    current: async (connection: Connection, generation = 0) => {
      const known = await load(connection, generation);
      return follow(connection, known, connection.lookups.current);
    },
    /** Returns the snapshot of the rules that are in force at this moment; otherwise as `current`. */
    inForce: async (connection: Connection) =>
      follow(connection, await reload(connection), connection.lookups.current),
    /**
     * Reads the lookups and the rules in force again, and returns the new snapshot. A mapping file that has changed comes
     * into force.
     */
    refresh: async (connection: Connection) => {
      const known = await reload(connection);
      return follow(connection, known, connection.lookups.refresh);
    },
    /**
     * Returns the snapshot of this generation or a later one, without a call to the travel API; before the first reading of the lookups, a
     * snapshot of the mapping in force alone.
     */
    loaded: async (connection: Connection, generation = 0): Promise<RulesSnapshot> => {
      const { snapshot, inForce } = await load(connection, generation);
      return snapshot ?? toRulesSnapshot({ mapping: mappingOf(inForce) ?? defaultMapping }, noLookups);
    },
    /**
     * Returns the test for the groups that the rules in force name, and their generation: this one or a later one. Makes no call to the
     * travel API.
     */
    groupRules: (connection: Connection, generation = 0) => load(connection, generation).then(toGroupRules),
    /**
     * Puts a mapping file in force that was read again, if its content has changed. A file that has not changed does not
     * replace what a command has put in force.
     */
    applyFile: (connection: Connection, mapping: Mapping) => applyFile(state, connection, mapping),
    /** The number of faulty places in each connection's mapping, as of its last compilation. */
    mappingFaults: () =>
      [...state.known].flatMap(([connection, { faults }]) =>
        faults ? [{ connection, count: faults.length }] : [],
      ),
    /** True if rules are loaded, and those of this generation are later. */
    isBehind: (id: string, generation: number): boolean =>
      generation > (state.known.get(id)?.loaded?.inForce.generation ?? generation),
    /** Forgets what was loaded for a connection that no longer exists. */
    forget: (id: string): void => void state.known.delete(id),
  };
}

/** Reads the lookups, and puts them in force if they differ. Reads again if the rules have changed meanwhile. */
async function followReading(
  {
    state,
    load,
  }: { state: State; load: (connection: Connection, generation: number) => Promise<LoadedRules> },
  connection: Connection,
  { known, read }: { known: LoadedRules; read: () => Promise<TravelAnswer<Lookups>> },
): Promise<RulesSnapshot | TravelFailure> {
  let before = known;
  let answer = await read();
  for (;;) {
    const reading = answer.kind === 'ok' && isUsable(before.inForce) ? answer.value : before.reading;
    let now = knownOf(state, connection).loaded ?? before;
    // The reading is saved only if no rules have come into force since it began: their lookups may be later.
    if (now === before && reading && reading !== before.reading) {
      const isSaved = await saveReading(state, connection, { before, reading });
      if (!isSaved) now = await load(connection, before.inForce.generation + 1);
    }
    if (now === before) return snapshotOf(knownOf(state, connection).loaded ?? before, answer);
    before = now;
    answer = await connection.lookups.current();
  }
}

/** Rules that this process cannot read may name any group. */
function toGroupRules({ inForce, snapshot }: LoadedRules): Omit<RulesForGroups, 'now'> {
  const { generation } = inForce;
  const rules = snapshot?.rules ?? compileInForce(inForce);
  if (!rules) return { generation, test: () => true, isNamed: () => true, isInScope: () => true };
  const keyOf = (name: string) => foldCase(cleanValue(name));
  const inScope = new Set(groupsOfScope(rules).map(keyOf));
  const isInScope = (name: string) => inScope.has(keyOf(name));
  return { generation, test: groupTest(rules), isNamed: isNamedGroup(rules), isInScope };
}

function compileInForce(inForce: LoadedRules['inForce']): Rules | undefined {
  const mapping = mappingOf(inForce);
  return mapping && withPilot(compileRules(mapping, inForce.lookups?.scimUserMappings ?? []), inForce);
}

function knownOf({ known }: State, { id }: Pick<Connection, 'id'>): Known {
  const found = known.get(id) ?? {};
  known.set(id, found);
  return found;
}

const otherVersion: TravelFailure = {
  kind: 'unavailable',
  text: 'the rules in force belong to another version of Jetbridge',
};
const changedMeanwhile: TravelFailure = { kind: 'unavailable', text: 'the rules have just changed' };

function snapshotOf(
  { inForce, snapshot }: LoadedRules,
  answer: TravelAnswer<Lookups>,
): RulesSnapshot | TravelFailure {
  if (snapshot) return snapshot;
  if (!isUsable(inForce)) return otherVersion;
  return answer.kind === 'ok' ? changedMeanwhile : answer;
}

/**
 * Loads the rules in force, after the mapping file of this replica has come into force if its content is new. Replicas
 * with different files that start at the same time both put theirs in force, one after the other, and the later stays.
 */
async function loadRules(state: State, connection: Connection): Promise<LoadedRules> {
  const { rules, runtime } = state;
  for (;;) {
    const head = await rules.findHead(connection.id, runtime.now());
    const known = knownOf(state, connection).loaded;
    const next = await nextRules(state, connection, head);
    if (next) {
      const author = await authorOfNext(state, connection, next);
      // They are read again like those of other replicas, with the pilot.
      await rules.replace(connection.id, next, runtime.now(), author);
    } else if (known && known.inForce.generation === head?.generation) return known;
    else {
      const stored = await rules.find(connection.id);
      if (stored) return useRules(state, connection, stored);
    }
  }
}

/** A mapping that is stored again for this edition of the code keeps its author. */
async function authorOfNext(
  { rules, configuredMappingOf }: State,
  { id }: Connection,
  { source }: RulesInForce,
): Promise<string | undefined> {
  return source === 'file' ? configuredMappingOf(id).mappingFile : (await findVersion(rules, id))?.author;
}

/** Returns the rules that this replica must put in force; undefined if those in force stay. */
async function nextRules(
  state: State,
  connection: Connection,
  head: RulesHead | undefined,
): Promise<RulesInForce | undefined> {
  const file = fileOf(state, connection);
  const { id } = connection;
  if (!head) {
    const mapping = file ?? defaultMapping;
    const source = file ? 'file' : 'default';
    return { ...contentOf(mapping), generation: 1, lookups: undefined, source };
  }
  const generation = head.generation + 1;
  if (isEditionOutOfUse(head)) {
    const stored = await state.rules.find(id);
    const mapping = stored && mappingOf(stored);
    if (mapping) return { ...stored, ...contentOf(mapping), generation };
  }
  if (file === undefined) {
    await recordUse(state, connection, head);
    return undefined;
  }
  if (!(await comesIntoForce(state, connection, { head, digest: digestOf(file) }))) return undefined;
  const inForce = await state.rules.find(id);
  if (!inForce || (await areInForceAtOnce(state, id)))
    return { ...contentOf(file), generation, lookups: inForce?.lookups, source: 'file' };
  const { mappingFile: author } = state.configuredMappingOf(id);
  const part = { mapping: file, source: 'file', author } as const;
  await proposeRules(state, id, { inForce, part });
  return undefined;
}

/** The mapping file of this replica as it was read last; undefined if the settings name none. */
function fileOf(state: State, connection: Connection): Mapping | undefined {
  return knownOf(state, connection).file ?? state.configuredMappingOf(connection.id).mapping;
}

/**
 * True if the mapping in force must be stored again for this edition of the code: the row's edition is earlier, or no
 * replica with a later one has used it for five minutes, because all replicas were rolled back.
 */
function isEditionOutOfUse({ edition, fileAgeMs }: RulesHead): boolean {
  return edition < EDITION || (edition > EDITION && fileAgeMs >= FILE_ABSENT_MS);
}

async function recordUse({ rules, runtime }: State, { id }: Connection, head: RulesHead): Promise<void> {
  if (head.edition === EDITION && head.fileAgeMs >= FILE_RECORD_MS)
    await rules.recordFile(id, head.digest, runtime.now());
}

async function applyFile(state: State, connection: Connection, mapping: Mapping): Promise<MappingFileResult> {
  const { rules, runtime } = state;
  const { id } = connection;
  const { mappingFile: author } = state.configuredMappingOf(id);
  const before = fileOf(state, connection);
  knownOf(state, connection).file = mapping;
  const isSame = before !== undefined && digestOf(before) === digestOf(mapping);
  for (;;) {
    const { inForce } = await loadRules(state, connection);
    const version = (await rules.findMappingNumber(id, inForce.generation)) ?? 0;
    if (inForce.digest === digestOf(mapping)) {
      // Another replica may have started with a new file, which this one does not withdraw.
      if (!isSame) await withdrawFile(state, id, inForce.digest);
      return { outcome: isSame ? 'unchanged' : 'applied', version };
    }
    if (isSame) return { outcome: 'replaced', version };
    if (!(await areInForceAtOnce(state, id))) {
      const part = { mapping, source: 'file', author } as const;
      await proposeRules(state, id, { inForce, part });
      return { outcome: 'proposed', version };
    }
    const next: RulesInForce = {
      ...{ ...inForce, ...contentOf(mapping), source: 'file' },
      ...{ generation: inForce.generation + 1, putBackSince: undefined },
    };
    if (await rules.replace(id, next, runtime.now(), author)) {
      useRules(state, connection, next);
      return { outcome: 'applied', version: version + 1 };
    }
  }
}

/** Decides whether the mapping file of this replica replaces the mapping in force. */
async function comesIntoForce(
  state: State,
  connection: Connection,
  { head, digest }: { head: RulesHead; digest: string },
): Promise<boolean> {
  const { rules, runtime } = state;
  const { id } = connection;
  const known = knownOf(state, connection);
  if (head.digest === digest) {
    known.isReported = false;
    await recordUse(state, connection, head);
    return false;
  }
  if (!(await wasInForce(rules, id, digest))) return true;
  if (head.source !== 'file') await recordUse(state, connection, head);
  if (head.source === 'file' && head.fileAgeMs >= FILE_ABSENT_MS) return true;
  if (!known.isReported)
    runtime.log.warn(
      { connection: id, version: await rules.findMappingNumber(id, head.generation) },
      'the mapping file was in force before and has been replaced since; using the mapping in force',
    );
  known.isReported = true;
  return false;
}

/** A file that was changed back to the mapping in force is proposed no longer. */
async function withdrawFile({ rules }: State, connection: string, digest: string): Promise<void> {
  const { proposed } = await rules.findProposals(connection);
  if (proposed?.source === 'file' && proposed.mappingDigest !== digest)
    await rules.propose(connection, undefined);
}

/** Compiles rules in force that were stored or loaded. */
function useRules(state: State, connection: Connection, inForce: RulesInForce): LoadedRules {
  const known = knownOf(state, connection).loaded;
  if (known?.inForce.generation === inForce.generation) return known;
  const { lookups } = inForce;
  // Lookups that came into force before say nothing new: what was read or has changed since stays.
  if (lookups && !isDeepStrictEqual(lookups, known?.inForce.lookups))
    connection.lookups.adopt(lookups, known !== undefined);
  return setLoaded(state, connection, { inForce, snapshot: compileSnapshot(inForce), reading: lookups });
}

/**
 * Puts the lookups that were read in force if they differ. Returns false if the rules in force have changed meanwhile.
 */
async function saveReading(
  state: State,
  connection: Connection,
  { before, reading }: { before: LoadedRules; reading: Lookups },
): Promise<boolean> {
  const { inForce } = before;
  const lookups = await withAcceptedCollection(state, connection, { inForce, reading });
  const read: RulesInForce = { ...inForce, generation: inForce.generation + 1, lookups };
  const snapshot = compileSnapshot(read);
  if (!snapshot) return true;
  if (before.snapshot?.version === snapshot.version) {
    before.reading = reading;
    return true;
  }
  const next: RulesInForce = { ...read, lookups: snapshot.lookups };
  if (!(await state.rules.replace(connection.id, next, state.runtime.now()))) return false;
  setLoaded(state, connection, { inForce: next, snapshot, reading });
  return true;
}

/** The lists of a reading come into force at once. Other rules of the travel service are proposed, if there are people whom they may change. */
async function withAcceptedCollection(
  state: State,
  { id }: Connection,
  { inForce, reading }: { inForce: RulesInForce; reading: Lookups },
): Promise<Lookups> {
  if (!inForce.lookups || (await areInForceAtOnce(state, id))) return reading;
  const { scimUserMappings } = inForce.lookups;
  await proposeRules(state, id, { inForce, part: { collection: reading.scimUserMappings } });
  return { ...reading, scimUserMappings };
}

/** A later generation may have been loaded meanwhile: it stays. */
function setLoaded(state: State, connection: Connection, next: LoadedRules): LoadedRules {
  const known = knownOf(state, connection);
  const { loaded, faults = [] } = known;
  if (loaded && loaded.inForce.generation >= next.inForce.generation) return loaded;
  known.loaded = next;
  if (!next.snapshot) return next;
  known.faults = checkNames(next.snapshot.rules, next.snapshot.lookups);
  logFaultChanges(connection.id, { before: faults, now: known.faults }, state.runtime.log);
  return next;
}
