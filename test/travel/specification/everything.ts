import type { JsonObject } from '../../../src/travel/json.ts';
import type { House } from '../house.ts';
import { fullYear } from './world.ts';

/** An account in which every collection has several items, archived ones too. Answers paths with the ids filled in. */
export async function everything(house: House): Promise<(path: string) => string> {
  const { userField } = await fullYear(house);
  const at: Record<string, string> = { userField };
  for (const number of [1, 2, 3]) {
    house.pass(1000);
    const archived = number === 2;
    await house.make('/users', { email: `u${number}@example.com`, archived });
    await house.make('/cost-centers', { name: `c${4 - number}`, archived });
    await house.make('/project-codes', { code: `p${4 - number}`, archived });
    const profile = { email: 'b@example.com', lang: 'fr', name: `b${4 - number}`, archived };
    await house.make('/billing-profiles', profile);
    const budgets = { hotelBudget: {}, transportBudget: {} };
    await house.make('/travel-policies', { control: 'none', name: `t${4 - number}`, ...budgets });
    const url = `https://receiver.example.com/${number}`;
    await house.make('/webhooks', { url });
    const field = { dataType: 'option', name: 'Team', resourceType: 'user' };
    at['customField'] = (await house.make('/custom-fields', field)).id;
    const scimAttribute = ['title', 'nickName', 'userType'][number - 1] ?? '';
    await house.make('/scim-user-mappings', { scimAttribute, customFieldId: userField });
  }
  for (const data of ['red', 'blue'])
    await house.make(`/custom-fields/${at['customField']}/options`, { data });
  const first = async (path: string): Promise<JsonObject> => (await house.send('get', path)).body.data[0];
  at['tripProject'] = String((await first('/trip-projects'))['id']);
  at['invoice'] = String((await first('/invoices'))['id']);
  return (path) => `/${path.replace(/\{(\w+)\}/g, (_all, name) => at[name] ?? name)}`;
}
