import type { ConnectionSettings, Settings } from '../../config/settings.ts';
import type { MappingDeps } from '../../operations/deps.ts';
import { mappingTasks } from '../../operations/mappings/mapping-tasks.ts';
import { applyMapping } from '../../provisioning/mapping-changes/apply-mapping.ts';
import { ensureConnection } from '../../store/connections.ts';
import { findConnection } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { type Operator, operatorOn, withOperations } from '../operations.ts';
import { type Shell, startProgress } from '../terminal/output.ts';

/** The chosen connection of a command about mappings. `usesFile`: its mapping file counts, not the mapping in force. */
interface Chosen {
  connection?: string | undefined;
  usesFile?: true;
}

/** Runs operations that compute with the mappings of the named connection, or of the only one. */
export function withMappingOperations(
  shell: Shell,
  { connection: name, usesFile }: Chosen,
  work: (operator: Operator<MappingDeps>, connection: ConnectionSettings) => Promise<void>,
): Promise<0 | 1> {
  return withOperations(shell, async ({ deps }) => {
    const { database, settings, store } = deps;
    const chosen = chooseConnection(settings, name);
    // The rules of a connection are read before a server has served it, too.
    if (!database.scopes.has(chosen.id)) await ensureConnection(database, chosen, deps.now());
    const connection = usesFile ? chosen : { ...chosen, mapping: undefined };
    const { withRules } = await import('../../checks/mapping.ts');
    await withRules({ settings, connection, database }, ({ opened, currentRules }) => {
      const applying = { ...store, runtime: deps };
      const provisioning: MappingDeps['provisioning'] = {
        currentRules,
        applyMapping: (_connection, change) => applyMapping(applying, opened.connection, { change }),
        // A running server sees the other generation of the rules within a second.
        refreshRules: () => {},
      };
      const mappingDeps = { ...deps, connections: [opened], provisioning, tasks: tasksOf(shell, chosen.id) };
      return work(operatorOn(mappingDeps), chosen);
    });
  });
}

/** Chooses the named connection, or the only one. */
export function chooseConnection(settings: Settings, name: string | undefined): ConnectionSettings {
  const { connections } = settings;
  if (name === undefined && connections.length > 1) {
    const names = connections.map(({ id }) => id).join(', ');
    throw new Refused(
      `There are several connections: name one with --connection. The settings have ${names}.`,
    );
  }
  return findConnection(settings, name ?? connections[0]?.id ?? '');
}

/** Computes in this process, which serves nobody meanwhile: a preview of everybody takes the time that it needs. */
function tasksOf(shell: Shell, connection: string): MappingDeps['tasks'] {
  return {
    run: async (name, input, { reads }) => {
      if (name !== 'previewEverybody') return mappingTasks(reads, { maxMs: Infinity })[name](input);
      const progress = startProgress(shell, connection, 'people');
      const tasks = mappingTasks(reads, { maxMs: Infinity, onBatch: progress.update });
      return tasks[name](input).finally(progress.stop);
    },
  };
}
