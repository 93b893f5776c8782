import { startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const rule = {
  template: 'Gold',
  userAttribute: 'lastName',
  when: 'groups[display eq "Site Paris"]',
};

const text = 'The mapping names 1 group that the identity provider has not sent';

test('a group that the mapping in force names, and that is renamed or deleted, is a condition everywhere', async () => {
  const settings = writeSettingsFile({}, { default: { mapping: undefined } });
  const { service, admin, viewer, close } = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  try {
    const files = { JETBRIDGE_DATA: service.data, JETBRIDGE_CONFIG: settings.path };
    const { send } = scimClient(service.url, service.scimToken);
    const { body: group } = await send('POST', '/Groups', { displayName: 'Site Paris' });
    const { version } = (await viewer('GET', '/mappings/default')).body;
    const mapping = JSON.stringify({ scimUserMapping: [rule] });
    const applied = await admin('PUT', '/mappings/default', {
      body: { text: mapping, generation: version.generation },
    });
    expect(applied).toMatchObject({ status: 200 });
    const isIn = (shown: unknown) => JSON.stringify(shown).includes(text);
    const expectTold = async (isTold: boolean) => {
      await eventually(async () => {
        const overview = (await viewer('GET', '/overview')).body.conditions;
        const ready = await (await fetch(`${service.url}/readyz?verbose`)).json();
        expect([isIn(overview), isIn(ready)]).toEqual([isTold, isTold]);
      });
    };
    await expectTold(false);
    await send('PUT', `/Groups/${group.id}`, { displayName: 'Site Lyon' });
    await expectTold(true);
    await send('PUT', `/Groups/${group.id}`, { displayName: 'site paris' });
    await expectTold(false);
    await send('DELETE', `/Groups/${group.id}`);
    await expectTold(true);
    expect(isIn((await runCommandLine(['doctor'], files)).out)).toBe(true);
  } finally {
    await close();
    settings.remove();
  }
});
