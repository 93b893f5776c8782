import type { Identity, Outcome } from '../../../src/bridge/identity.ts';
import type { Where } from '../../../src/bridge/list-query.ts';
import type { Group } from '../../../src/bridge/ports.ts';
import { bridgeStore } from '../../../src/store/bridge-store.ts';
import { ensureConnection } from '../../../src/store/connections.ts';
import type { Database } from '../../../src/store/database.ts';
import type { TravelUser } from '../../../src/translator/travel-user.ts';

/** Opens an empty database of the kind under test. */
export type Open = () => Promise<Database>;

/** A moment at which the tests play. */
export const NOW = 1_750_000_000_000;

/** A store with two connections to one travel account, and one to another. */
export async function house(open: Open) {
  const database = await open();
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  await ensureConnection(database, { id: 'entra', account: 'acme' });
  await ensureConnection(database, { id: 'other', account: 'globex' });
  const store = bridgeStore(database);
  return {
    database,
    ...store,
    /** Commits new identities, which must work. */
    add: async (...identities: Identity[]) => {
      for (const identity of identities) {
        expect(await store.identities.commit(identity.connection, [{ kind: 'insert', identity }])).toBe(
          'done',
        );
      }
    },
    read: async (id: string, connection = 'okta') => {
      const identity = await store.identities.byId(connection, id);
      if (!identity) throw new Error(`there is no ${id}`);
      return identity;
    },
  };
}

/** Nothing is asked of rows that columns do not answer, and nobody else waits. */
export const alone = { step: async () => {}, residual: undefined };

/** A part of a list in the stable order. */
export function part<Field extends string>(where: Where<Field>, offset = 0, limit = 10) {
  return { where, order: { by: 'position', descending: false } as const, place: { offset }, limit };
}

/** The condition that a field has that value. */
export function has<Field extends string>(field: Field, value: string | boolean): Where<Field> {
  return { field, is: 'eq', value };
}

/** A claimed identity with a full name and one address, linked to nobody. */
export function person(id: string, extra: Partial<Identity> = {}): Identity {
  return {
    connection: 'okta',
    id,
    desired: {
      userName: `${id}@corp.example`,
      name: { givenName: id, familyName: 'Doe' },
      emails: [{ value: `${id}@corp.example`, type: 'work', primary: true }],
      active: true,
    },
    claimed: true,
    state: 'dirty',
    version: 1,
    revision: 1,
    rulesVersion: undefined,
    travelId: undefined,
    applied: {},
    refused: {},
    observed: undefined,
    creating: undefined,
    waitingFor: undefined,
    progress: {},
    origin: {},
    hold: undefined,
    decision: undefined,
    findings: [],
    trace: [],
    leasedUntil: undefined,
    attempts: 0,
    nextAttemptAt: undefined,
    createdAt: NOW,
    lastModified: NOW,
    deletedAt: undefined,
    ...extra,
  };
}

/** The identity that an import makes of a traveler. */
export function imported(id: string, travelId: string, extra: Partial<Identity> = {}): Identity {
  const seen = traveler(travelId, `${id}@corp.example`);
  return person(id, { claimed: false, state: 'synced', travelId, observed: seen, ...extra });
}

/** A traveler as the travel API tells it. */
export function traveler(id: string, email: string, extra: Partial<TravelUser> = {}): TravelUser {
  return { id, email, archived: false, createdAt: '2025-01-01T00:00:00Z', ...extra };
}

/** An outcome that links the traveler and leaves nothing to do. */
export function linked(travelId: string, email: string, extra: Partial<Outcome> = {}): Outcome {
  return {
    travelId,
    applied: { email: { sent: email, answered: email, source: email } },
    refused: {},
    observed: traveler(travelId, email),
    creating: undefined,
    waitingFor: undefined,
    progress: {},
    hold: undefined,
    findings: [],
    trace: [],
    rulesVersion: 'rules-1',
    state: 'synced',
    attempts: 0,
    nextAttemptAt: undefined,
    ...extra,
  };
}

/** A group without members. */
export function team(id: string, extra: Partial<Group> = {}): Group {
  return {
    connection: 'okta',
    id,
    attributes: { displayName: id },
    version: 1,
    createdAt: NOW,
    lastModified: NOW,
    ...extra,
  };
}
