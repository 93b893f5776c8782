import type { BackgroundTasks } from '../../store/queues/background-tasks.ts';
import type { Connection } from '../connection.ts';
import type { Log } from '../runtime-ports.ts';
import type { People } from './people.ts';

interface NoticeDeps {
  people: Pick<People, 'findPage'>;
  tasks: Pick<BackgroundTasks, 'listStates' | 'saveState'>;
  log: Pick<Log, 'warn'>;
}

const NOTICE =
  'another person who takes the place of somebody who left gets a traveler of their own (onReturn: separate, the default); earlier versions handed the traveler over. Set policies.onReturn to "revive" or "hold" to change that';

/** Says once for each connection that has leavers what becomes of their travelers, because the default has changed. */
export async function announceReturnPolicy(
  { people, tasks, log }: NoticeDeps,
  connections: readonly Pick<Connection, 'id' | 'policies'>[],
): Promise<void> {
  const announced = new Set((await tasks.listStates('returnNotice')).map(({ connection }) => connection));
  for (const { id, policies } of connections) {
    if (announced.has(id) || policies.onReturn !== 'separate') continue;
    const { people: leavers } = await people.findPage(id, { archived: true }, undefined, 1);
    if (leavers.length === 0) continue;
    await tasks.saveState(id, 'returnNotice', { isAnnounced: true });
    log.warn({ connection: id }, NOTICE);
  }
}
