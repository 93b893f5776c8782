import { translate } from '../fixtures/translator.ts';

const travel = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const user = { userName: 'a@x.example', [travel]: { manager: { id: 't-9', email: 'boss@x.example' } } };

describe('the source that a field keeps', () => {
  it('is the value that set it', () => {
    const references = { 'boss@x.example': { travelId: 't-8' } };
    expect(translate(user, { references }).fields.managerId).toEqual({
      kind: 'value',
      value: 't-8',
      source: 'boss@x.example',
    });
  });

  it('is the preferred one of several that are unresolved', () => {
    expect(translate(user).fields.managerId).toEqual({ kind: 'unresolved', source: 't-9' });
  });

  it('is the one that was resolved before, so that what it came to stays', () => {
    const applied = { managerId: { sent: 't-8', answered: 't-8', source: 'boss@x.example' } };
    expect(translate(user, { applied }).fields.managerId).toEqual({
      kind: 'unresolved',
      source: 'boss@x.example',
    });
  });

  it('is what the transforms made, as another transform may mean another thing', () => {
    const rule = { scimAttribute: 'title', userAttribute: 'costCenterId', transforms: [{ prefix: 'CC-' }] };
    const { fields } = translate({ title: '40' }, { mapping: { scimUserMapping: [rule] } });
    expect(fields.costCenterId).toEqual({ kind: 'value', value: 'cc-12', source: 'CC-40' });
  });

  it('is the default where there is no value', () => {
    const mapping = {
      scimUserMapping: [
        { scimAttribute: 'title', userAttribute: 'lastName', transforms: [{ default: 'x' }] },
      ],
    };
    expect(translate({}, { mapping }).fields.lastName).toEqual({ kind: 'value', value: 'x', source: 'x' });
  });
});
