import { displayNameOf } from '../../model/people.ts';
import type { OperationDeps } from '../deps.ts';

/** Returns the name of a user for lists; undefined if there is no such user any more. */
export type NameOf = (connection: string, id: string) => Promise<string | undefined>;

/** Reads names from the stored users. */
export function userNames({ store, connectionIds }: Pick<OperationDeps, 'store' | 'connectionIds'>): NameOf {
  return async (connection, id) => {
    const isKnown = connectionIds().includes(connection);
    const identity = isKnown ? await store.identities.findById(connection, id) : undefined;
    return identity && (displayNameOf(identity.desired) || String(identity.desired['userName']));
  };
}

/** Reads the name of each user once, and no more names than the maximum. */
export function nameReader(nameOf: NameOf, maximum = Number.POSITIVE_INFINITY): NameOf {
  const names = new Map<string, Promise<string | undefined>>();
  return async (connection, id) => {
    const key = JSON.stringify([connection, id]);
    const name = names.get(key) ?? (names.size < maximum ? nameOf(connection, id) : undefined);
    if (name) names.set(key, name);
    return name;
  };
}
