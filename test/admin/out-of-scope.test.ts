import { startAdmin } from '../fixtures/admin.ts';
import { scimClient } from '../fixtures/scim-client.ts';

test('a person out of scope is one for the IdP, the page, the filter of people and the metrics', async () => {
  const { service, admin, viewer, close } = await startAdmin();
  try {
    const { version } = (await viewer('GET', '/mappings/default')).body;
    const text = JSON.stringify({ scope: 'not (userType eq "Service")' });
    const body = { text, generation: version.generation };
    expect((await admin('PUT', '/mappings/default', { body })).status).toBe(200);
    const idp = scimClient(service.url, service.scimToken);
    const user = { userName: 'bot@corp.example', userType: 'Service' };
    const { status, body: bot } = await idp.send('POST', '/Users', user);
    expect(status).toBe(201);
    expect((await idp.send('GET', `/Users/${bot.id}`)).body).toMatchObject(user);
    const person = (await viewer('GET', `/people/default/${bot.id}`)).body;
    expect(person).toMatchObject({ state: 'synced', verdict: { status: 'outOfScope' } });
    expect(person.travelId).toBeUndefined();
    const { people } = (await viewer('GET', '/people?finding=outOfScope')).body;
    expect(people).toMatchObject([{ id: bot.id }]);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('jetbridge_out_of_scope{connection="default"} 1');
  } finally {
    await close();
  }
});
