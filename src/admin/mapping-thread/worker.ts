import { parentPort } from 'node:worker_threads';
import { parseJsonText } from '../../config/faults.ts';
import type { Connection } from '../../provisioning/connection.ts';
import { findNameFaults, findUnknownGroups } from '../../provisioning/rules/check-mapping.ts';
import { previewChange } from '../../provisioning/rules/preview-mapping.ts';
import { previewPerson } from '../../provisioning/rules/preview-person.ts';
import { type RulesSnapshot, toRulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import { findUndeclaredNames } from '../../translator/mapping/extension-names.ts';
import type { MappingFault } from '../../translator/mapping/mapping-faults.ts';
import { type ParsedMapping, parseMapping } from '../../translator/mapping/mapping-file.ts';
import { compileRules } from '../../translator/rules.ts';
import type { RulesData, StoredReads, Tasks } from './tasks.ts';
import type { FromThread, ToThread } from './thread.ts';

// The program of the thread that computes with the mappings of admins (docs/decisions/0045-mappings-have-limits.md).

type Run = { [Name in keyof Tasks]: (input: Tasks[Name]['input']) => Promise<Tasks[Name]['result']> };

const port = parentPort;
if (!port) throw new Error('this file is the program of a thread');
const send = (message: FromThread) => port.postMessage(message);

/** The reads that the main thread has not answered yet. */
const unanswered = new Map<number, (value: unknown) => void>();
let reads = 0;

/** Asks the main thread for data of the database. A read that fails ends the task there. */
function read<Name extends keyof StoredReads>(name: Name): StoredReads[Name] {
  const ask = (...values: unknown[]) =>
    new Promise((resolve) => {
      reads += 1;
      unanswered.set(reads, resolve);
      send({ kind: 'read', id: reads, name, values });
    });
  // The main thread answers with what the function of this name returns there.
  return ask as StoredReads[Name];
}

const identities = {
  findById: read('findById'),
  find: read('find'),
  findHolder: read('findHolder'),
  isErased: read('isErased'),
  isWaitedFor: read('isWaitedFor'),
  findWaiters: read('findWaiters'),
  findPage: read('findPage'),
};
const stored = {
  identities,
  references: { findRows: read('findReferenceRows') },
  memberships: { findOf: read('findMemberships'), findUnknownNames: read('findUnknownGroupNames') },
};

const tasks: Run = {
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
  previewPerson: async ({ text, connection, inForce, identity }) => {
    const parsed = parseText(text);
    if ('faults' in parsed) return parsed;
    const next = toRulesSnapshot(parsed, inForce.lookups);
    const { account, policies } = connection;
    return previewPerson(stored, { identity, account, policies }, { inForce: compile(inForce), next });
  },
  previewEverybody: async ({ text, connection, inForce, ownUser, examples, maxMs, putBackSince }) => {
    const parsed = parseText(text);
    if ('faults' in parsed) return parsed;
    const to = { ...toRulesSnapshot(parsed, inForce.lookups), putBackSince };
    const change = { from: compile(inForce), to };
    const lookups = { ...noCalls<Connection['lookups']>(), readOwnUser: async () => ownUser };
    const readOnly: Connection = { ...connection, travel: noCalls<Connection['travel']>(), lookups };
    const until = performance.now() + maxMs;
    const isOver = () => performance.now() >= until;
    const deps = { ...stored, runtime: { now: () => performance.now() } };
    return previewChange(deps, { connection: readOnly, ...change }, { examples, isOver });
  },
};

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

function compile({ mapping, ...inForce }: RulesData): RulesSnapshot {
  return { ...inForce, rules: compileRules(mapping, inForce.lookups.scimUserMappings) };
}

/** A preview calls nothing in the travel API: a call would fail because the function does not exist. */
function noCalls<T extends object>(): T {
  return {} as T;
}

function runTask<Name extends keyof Tasks>(name: Name, input: Tasks[Name]['input']): Promise<unknown> {
  return tasks[name](input);
}

/** The size of the largest result, in characters of its JSON. */
const MAX_RESULT = 5_000_000;

function isTooLarge(value: unknown): boolean {
  return JSON.stringify(value).length > MAX_RESULT;
}

port.on('message', (message: ToThread) => {
  if (message.kind === 'answer') {
    unanswered.get(message.id)?.(message.value);
    unanswered.delete(message.id);
    return;
  }
  send({ kind: 'began' });
  runTask(message.name, message.input).then(
    // The main thread copies the result and sends it as JSON, while no other request is served.
    (value) => send(isTooLarge(value) ? { kind: 'tooLarge', max: MAX_RESULT } : { kind: 'result', value }),
    (error: unknown) => send({ kind: 'failed', error }),
  );
});
