import type { TravelUsers } from '../bridge/ports.ts';
import { foldCase } from '../schema/fold.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { ofCollection } from './answers.ts';
import type { TravelClient } from './client.ts';
import { page } from './collection.ts';
import { readTravelUser, readTravelUserId } from './travel-user.ts';

const one = ({ data }: { data: unknown }): TravelUser | undefined => readTravelUser(data);

/** The travelers over HTTP; each method is one request, tried once. */
export function travelUsers(client: TravelClient, { users: path }: { users: string }): TravelUsers {
  const item = (id: string) => `${path}/${encodeURIComponent(id)}`;
  return {
    create: async (user) => {
      const answer = await client.call({ method: 'POST', path, data: user }, one);
      return ofCollection(`POST ${path}`, answer);
    },
    read: async (id) =>
      isName(id) ? client.call({ method: 'GET', path: item(id) }, one) : { kind: 'notFound' },
    patch: async (id, patch) =>
      isName(id) ? client.call({ method: 'PATCH', path: item(id), data: patch }, one) : { kind: 'notFound' },
    remove: async (id) =>
      isName(id) ? client.call({ method: 'DELETE', path: item(id) }, one) : { kind: 'notFound' },
    byEmail: async (emails, timeoutMs) => {
      if (emails.length === 0) return { kind: 'ok', value: [] };
      const wanted = new Set(emails.map(foldCase));
      const query = { emails: [...new Set(emails.flatMap(formsOf))].join(','), limit: 100 };
      const answer = await page(client, { path, query, read: readTravelUser, timeoutMs });
      if (answer.kind !== 'ok') return answer;
      // A travel API that passes over the filter answers everybody; linking one of those would be somebody else.
      const found = answer.value.items.filter(({ email }) => wanted.has(foldCase(email)));
      // In the order of the addresses, whatever the order of the list: the first wanted address is the preferred one.
      const places = [...wanted];
      const placeOf = ({ email }: TravelUser) => places.indexOf(foldCase(email));
      return { kind: 'ok', value: found.sort((one, other) => placeOf(one) - placeOf(other)) };
    },
    page: async (offset, limit) => {
      const answer = await page(client, { path, query: { offset, limit }, read: readTravelUser });
      if (answer.kind !== 'ok') return answer;
      const { items: users, unreadable, ...rest } = answer.value;
      return { kind: 'ok', value: { users, unreadable: unreadable.map(readTravelUserId), ...rest } };
    },
    serverTime: client.serverTime,
  };
}

/** False for what a URL would not take as the name of one thing: `users/..` is not a user. */
function isName(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..';
}

/**
 * The forms of an address that the travel API is asked for: one that compares exactly may have stored another form than
 * the one the identity provider sends.
 */
function formsOf(email: string): string[] {
  const folded = foldCase(email);
  return [email, email.normalize('NFC'), email.normalize('NFD'), folded, folded.normalize('NFD')];
}
