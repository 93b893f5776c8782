import type { Connection } from '../../model/connection.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { TravelAnswer } from '../../model/travel-ports.ts';
import type { TravelUser } from '../../model/traveler.ts';
import type { BackgroundTasks } from '../../store/queues/background-tasks.ts';

interface OwnUsersDeps {
  tasks: Pick<BackgroundTasks, 'saveState' | 'listStates'>;
  runtime: Pick<Runtime, 'log'>;
}

interface OwnUserState {
  travelId: string;
}

export type OwnUsers = ReturnType<typeof ownUsers>;

/** Remembers the travelers whose credentials the bridge uses. What it learns is stored, so that it is known also after a restart. */
export function ownUsers({ tasks, runtime }: OwnUsersDeps) {
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
    /**
     * Returns the id of the traveler, as the travel API has told it last, to this process or another one; undefined if it never has.
     * Makes no call.
     */
    lastKnown: async (connection: string): Promise<string | undefined> => {
      const travelId = known.get(connection);
      if (travelId !== undefined) return travelId;
      const states = await tasks.listStates('ownUser');
      const stored = states.find((state) => state.connection === connection)?.state;
      return (stored as OwnUserState | undefined)?.travelId; // Only this function writes the state.
    },
    /** Reads the traveler whose credential the connection uses, and remembers its id. */
    read: async ({ id, lookups }: Pick<Connection, 'id' | 'lookups'>): Promise<TravelAnswer<TravelUser>> => {
      const answer = await lookups.readOwnUser();
      if (answer.kind === 'ok') await save(id, answer.value.id);
      return answer;
    },
  };
}
