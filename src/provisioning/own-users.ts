import type { Connection } from './connection.ts';
import type { BackgroundTasks } from './replica-ports.ts';
import type { Runtime } from './runtime-ports.ts';

/** Remembers the travelers whose credentials the bridge uses. */
export interface OwnUsers {
  /**
   * Returns the id of the traveler, as the travel API has told it last, to this process or another one; undefined if it never has.
   * Makes no call.
   */
  lastKnown(connection: string): Promise<string | undefined>;
  /** Returns the connection, which from now on remembers what the travel API tells. */
  watched(connection: Connection): Connection;
}

interface OwnUsersDeps {
  tasks: Pick<BackgroundTasks, 'saveState' | 'listStates'>;
  runtime: Pick<Runtime, 'log'>;
}

interface OwnUserState {
  travelId: string;
}

/** Creates the memory of a process. What it learns is stored, so that it is known also after a restart. */
export function ownUsers({ tasks, runtime }: OwnUsersDeps): OwnUsers {
  const known = new Map<string, string>();
  const save = async (connection: string, travelId: string): Promise<void> => {
    if (known.get(connection) === travelId) return;
    known.set(connection, travelId);
    const state: OwnUserState = { travelId };
    await tasks.saveState(connection, 'ownUser', state).catch((error: unknown) => {
      runtime.log.error({ err: error, connection }, 'the user of the travel credential could not be saved');
    });
  };
  return {
    lastKnown: async (connection) => {
      const travelId = known.get(connection);
      if (travelId !== undefined) return travelId;
      const states = await tasks.listStates('ownUser');
      const stored = states.find((state) => state.connection === connection)?.state;
      return (stored as OwnUserState | undefined)?.travelId; // Only this function writes the state.
    },
    watched: (connection) => {
      const { lookups } = connection;
      const readOwnUser = async () => {
        const answer = await lookups.readOwnUser();
        if (answer.kind === 'ok') await save(connection.id, answer.value.id);
        return answer;
      };
      const [current, refresh] = [() => lookups.current(), () => lookups.refresh()];
      return { ...connection, lookups: { ...lookups, current, refresh, readOwnUser } };
    },
  };
}
