import { person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const title = { id: 'cf-1', name: 'Job title', dataType: 'text', disabled: false, options: [] };
const badge = { ...title, id: 'cf-2', name: 'Badge' };

test('without a value for a mandatory custom field the traveler is not created, and the finding names the field', () =>
  withFixture(async (fixture) => {
    const { travel, connection } = fixture;
    travel.lookupData = { ...travel.lookupData, customFields: [title, badge] };
    connection.mapping = mappingOf({
      scimUserMapping: [
        { scimAttribute: 'title', customField: 'Job title' },
        { scimAttribute: 'userType', customField: 'Badge' },
      ],
    });
    await fixture.restart();
    const message = 'The value of customFields.cf-2 (the custom field "Badge") is mandatory.';
    travel.faultFor = ({ verb, body }) =>
      verb === 'create' && !JSON.stringify(body).includes('cf-2')
        ? { kind: 'invalid', fields: [{ field: 'customFields.cf-2', code: 'required', message }] }
        : undefined;
    const ada = await fixture.bridge.users.create(users, person('Ada', { title: 'Buyer' }));
    const identity = await fixture.identity(ada.id);
    expect(identity.state).toBe('pending');
    expect(identity.findings).toMatchObject([
      { field: '*', code: 'refusedByTravelApi', reason: `The travel API refuses this value: ${message}` },
    ]);
    expect(travel.writes()).toHaveLength(1);
    await fixture.patch(ada.id, { userType: '7' });
    expect((await fixture.identity(ada.id)).state).toBe('synced');
    expect((await fixture.traveler(ada.id))?.customFields).toEqual([
      { customFieldId: 'cf-1', values: [{ data: 'Buyer' }] },
      { customFieldId: 'cf-2', values: [{ data: '7' }] },
    ]);
  }));
