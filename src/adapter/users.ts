import type { TravelUsers } from '../bridge/ports.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { ofCollection } from './answers.ts';
import type { TravelClient } from './client.ts';
import { page } from './collection.ts';
import { readTravelUser } from './travel-user.ts';

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
      const wanted = new Set(emails.map((email) => email.toLowerCase()));
      const query = { emails: emails.join(','), limit: 100 };
      const answer = await page(client, { path, query, read: readTravelUser, timeoutMs });
      if (answer.kind !== 'ok') return answer;
      // A travel API that passes over the filter answers everybody; linking one of those would be somebody else.
      return { kind: 'ok', value: answer.value.items.filter(({ email }) => wanted.has(email.toLowerCase())) };
    },
    page: async (offset, limit) => {
      const answer = await page(client, { path, query: { offset, limit }, read: readTravelUser });
      if (answer.kind !== 'ok') return answer;
      return { kind: 'ok', value: { users: answer.value.items, total: answer.value.total } };
    },
    serverTime: client.serverTime,
  };
}

/** False for what a URL would not take as the name of one thing: `users/..` is not a user. */
function isName(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..';
}
