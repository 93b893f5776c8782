import type { JsonObject } from '../../../src/travel/json.ts';
import type { Fixture } from '../../fixtures/travel.ts';
import { playFullYear } from './company.ts';

/** Fills every collection with several items, some archived. Returns a function that fills ids into path templates. */
export async function fillCollections(fixture: Fixture): Promise<(path: string) => string> {
  const { userField } = await playFullYear(fixture);
  const at: Record<string, string> = { userField };
  for (const number of [1, 2, 3]) {
    fixture.advanceClock(1000);
    const archived = number === 2;
    await fixture.make('/users', { email: `u${number}@example.com`, archived });
    await fixture.make('/cost-centers', { name: `c${4 - number}`, archived });
    await fixture.make('/project-codes', { code: `p${4 - number}`, archived });
    const profile = { email: 'b@example.com', lang: 'fr', name: `b${4 - number}`, archived };
    await fixture.make('/billing-profiles', profile);
    const budgets = { hotelBudget: {}, transportBudget: {} };
    await fixture.make('/travel-policies', { control: 'none', name: `t${4 - number}`, ...budgets });
    const url = `https://receiver.example.com/${number}`;
    await fixture.make('/webhooks', { url });
    const field = { dataType: 'option', name: 'Team', resourceType: 'user' };
    at['customField'] = (await fixture.make('/custom-fields', field)).id;
    const scimAttribute = ['title', 'nickName', 'userType'][number - 1] ?? '';
    await fixture.make('/scim-user-mappings', { scimAttribute, customFieldId: userField });
  }
  for (const data of ['red', 'blue'])
    await fixture.make(`/custom-fields/${at['customField']}/options`, { data });
  const first = async (path: string): Promise<JsonObject> => (await fixture.send('get', path)).body.data[0];
  at['tripProject'] = String((await first('/trip-projects'))['id']);
  at['invoice'] = String((await first('/invoices'))['id']);
  return (path) => `/${path.replace(/\{(\w+)\}/g, (_all, name) => at[name] ?? name)}`;
}
