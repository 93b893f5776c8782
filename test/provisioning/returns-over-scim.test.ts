import { type ScimResource, urns } from '../../src/schema/resource.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

/** Values that nobody provisions: they were entered in the travel service. */
const manualValues = {
  travelerPrefs: { flightSeatPosition: 'window', meal: 'kosher' },
  roles: ['premium'],
  gender: 'female',
  dateOfBirth: '1980-05-05',
};

function user(userName: string, attributes: ScimResource = {}): ScimResource {
  return {
    schemas: [urns.user],
    userName,
    name: { givenName: 'Alma', familyName: 'Smith' },
    emails: [{ value: `${userName.split('@')[0]}@corp.example`, type: 'work', primary: true }],
    active: true,
    ...attributes,
  };
}

function replace(values: object) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', value: values }],
  };
}

/** Requests to a whole service as an IdP and as an admin of the travel service. */
function requestsTo({ service, send }: ScimService) {
  const travel = async (method: string, travelId: string, data?: object) => {
    const response = await fetch(`${service.url}/api/users/${travelId}`, {
      method,
      headers: { authorization: `Bearer ${service.travelApiKey}`, 'content-type': 'application/json' },
      ...(data ? { body: JSON.stringify({ data }) } : {}),
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: object }).data;
  };
  const post = async (resource: ScimResource) => {
    const { status, body } = await send('POST', '/Users', resource);
    expect(status).toBe(201);
    return { id: String(body.id), travelId: body[urns.travel]?.travelUserId as string | undefined };
  };
  const traveler = (travelId: string | undefined) => travel('GET', travelId ?? '');
  const createWithManualValues = async (resource: ScimResource) => {
    const { id, travelId = '' } = await post(resource);
    await travel('PATCH', travelId, manualValues);
    return { id, travelId };
  };
  const patch = async (id: string, values: object) =>
    expect((await send('PATCH', `/Users/${id}`, replace(values))).status).toBe(200);
  const remove = async (id: string) => expect((await send('DELETE', `/Users/${id}`)).status).toBe(204);
  const travelIdOf = async (id: string) =>
    (await send('GET', `/Users/${id}`)).body[urns.travel]?.travelUserId as string | undefined;
  return { post, patch, remove, traveler, createWithManualValues, travelIdOf };
}

describe('with the default policies', () => {
  let scim: ScimService;
  let idp: ReturnType<typeof requestsTo>;
  beforeAll(async () => {
    scim = await scimService();
    idp = requestsTo(scim);
  });
  afterAll(() => scim.close());

  it.each([true, false])(
    'another person who gets the address of a leaver inherits nothing (deleted: %s)',
    async (isDeleted) => {
      const userName = `a.smith.${isDeleted}@corp.example`;
      const old = await idp.createWithManualValues(
        user(userName, {
          userName: isDeleted ? userName : `old-${userName}`,
          externalId: `hr-1001-${isDeleted}`,
        }),
      );
      if (isDeleted) await idp.remove(old.id);
      else await idp.patch(old.id, { active: false });
      const bert = user(userName, {
        name: { givenName: 'Bert', familyName: 'Smith' },
        externalId: `hr-2002-${isDeleted}`,
      });
      const { travelId } = await idp.post(bert);
      const traveler = await idp.traveler(travelId);
      expect(traveler).toMatchObject({ firstName: 'Bert', email: userName, archived: false });
      for (const name of Object.keys(manualValues)) expect(traveler).not.toHaveProperty(name);
      expect(await idp.traveler(old.travelId)).toMatchObject({
        ...manualValues,
        archived: true,
        email: expect.stringMatching(/^parked-/),
      });
    },
  );

  it('a user who is activated under another externalId keeps what was entered in the travel service', async () => {
    const { id, travelId } = await idp.createWithManualValues(
      user('mira@corp.example', { externalId: '00uOLD' }),
    );
    await idp.patch(id, { active: false });
    await idp.patch(id, { externalId: 'entra-guid-1', active: 'True' });
    expect(await idp.travelIdOf(id)).toBe(travelId);
    expect(await idp.traveler(travelId)).toMatchObject({ ...manualValues, archived: false });
  });

  it.each([
    ['the address', 'ulla@corp.example'],
    ['another address', 'ulla.new@corp.example'],
  ])('a new user with the externalId of an inactive one and %s gets the traveler', async (name, value) => {
    const externalId = `okta-${name}`;
    const emails = [{ value: 'ulla@corp.example', type: 'work', primary: true }];
    const unique = name.replace(' ', '-');
    const own = (address: string) => emails.map((one) => ({ ...one, value: `${unique}.${address}` }));
    const old = await idp.createWithManualValues(
      user(`${unique}.old`, { externalId, emails: own('ulla@corp.example') }),
    );
    await idp.patch(old.id, { active: false });
    const { id, travelId } = await idp.post(user(`${unique}.new`, { externalId, emails: own(value) }));
    expect(travelId).toBe(old.travelId);
    expect(await idp.traveler(travelId)).toMatchObject({
      ...manualValues,
      archived: false,
      email: `${unique}.${value}`,
    });
    expect(await idp.travelIdOf(old.id)).toBeUndefined();
    await idp.patch(old.id, { title: 'Late write', name: { givenName: 'X', familyName: 'Y' } });
    expect(await idp.traveler(travelId)).toMatchObject({ firstName: 'Alma' });
    expect(await idp.travelIdOf(id)).toBe(travelId);
  });
});
