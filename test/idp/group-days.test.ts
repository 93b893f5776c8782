import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { urns } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { create, resources } from './travel-service.ts';

/** The groups of the company decide travel policy, role and cost center. */
const mapping = {
  scimUserMapping: [
    { template: 'Gold', when: 'groups[display eq "Travel managers"]', userAttribute: 'travelPolicyId' },
    { template: 'premium', when: 'groups[display eq "VIP"]', userAttribute: 'roles' },
    {
      scimAttribute: 'groups.display',
      transforms: [{ map: { 'Site Paris': 'Paris', 'Site Lyon': 'Lyon' } }],
      userAttribute: 'costCenterId',
    },
  ],
};

/** The requests with which an identity provider keeps its groups, as recorded. */
interface Dialect {
  group(name: string): object;
  member(id: string): object;
  add(members: object[]): object;
  remove(id: string): object;
  rename(id: string, name: string): object;
  user(name: string): object;
}

const common = (name: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: 'Smith' },
  emails: [{ primary: true, type: 'work', value: `${name}@corp.example` }],
  active: true,
});

const dialects: Record<'okta' | 'entra', Dialect> = {
  okta: {
    group: (displayName) => ({
      ...{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName, members: [] },
    }),
    member: (value) => ({ value, display: value }),
    add: (value) => ({ op: 'add', path: 'members', value }),
    remove: (id) => ({ op: 'remove', path: `members[value eq "${id}"]` }),
    rename: (id, displayName) => ({ op: 'replace', value: { id, displayName } }),
    user: (name) => ({ ...common(name), locale: 'en-US', groups: [], externalId: `00u${name}` }),
  },
  entra: {
    group: (displayName) => ({
      schemas: [
        'urn:ietf:params:scim:schemas:core:2.0:Group',
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      ...{ externalId: `id of ${displayName}`, displayName, meta: { resourceType: 'Group' } },
    }),
    member: (value) => ({ $ref: null, value }),
    add: (value) => ({ op: 'Add', path: 'members', value }),
    remove: (value) => ({ op: 'Remove', path: 'members', value: [{ $ref: null, value }] }),
    rename: (_id, value) => ({ op: 'Replace', path: 'displayName', value }),
    user: (name) => ({
      ...common(name),
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', urns.enterprise],
      externalId: `entra ${name}`,
      roles: [],
    }),
  },
};

/** A service with the mapping, and the travel service's ids of what the mapping names. */
interface Company {
  scim: ScimClient;
  /** Resolves when the traveler of a person has exactly these values, by the names that the mapping gives them. */
  expectTraveler(
    name: string,
    wanted: { policy?: string; roles?: string[]; center?: string; archived?: true },
  ): Promise<void>;
}

async function withCompany(test: (company: Company) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  const file = join(folder.path, 'mapping.json');
  writeFileSync(file, JSON.stringify(mapping));
  const settings = writeSettingsFile({}, { default: { mapping: file } });
  const service = await startService({ JETBRIDGE_CONFIG: settings.path });
  try {
    const { path, data: standard } = resources.travelPolicyId;
    const names = new Map([
      [await create(service, path, { ...standard, name: 'Gold' }), 'Gold'],
      [await create(service, '/cost-centers', { name: 'Paris' }), 'Paris'],
      [await create(service, '/cost-centers', { name: 'Lyon' }), 'Lyon'],
    ]);
    await test({
      scim: scimClient(service.url, service.scimToken),
      expectTraveler: async (name, wanted) => {
        await eventually(async () => {
          const traveler = await readTraveler(service, `${name}@corp.example`);
          const shown = {
            policy: names.get(traveler.travelPolicyId),
            archived: traveler.archived,
            roles: traveler.roles ?? [],
            center: names.get(traveler.costCenterId),
          };
          expect({ name, ...shown }).toEqual({
            name,
            archived: false,
            policy: undefined,
            roles: [],
            center: undefined,
            ...wanted,
          });
        });
      },
    });
  } finally {
    await service.close();
    settings.remove();
    folder.remove();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into its members
async function readTraveler({ url, travelApiKey }: RunningService, email: string): Promise<any> {
  const headers = { authorization: `Bearer ${travelApiKey}` };
  const answer = await fetch(`${url}/api/users?emails=${email}`, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const { data } = (await answer.json()) as any;
  return data[0] ?? {};
}

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

test.each(['okta', 'entra'] as const)('a day of %s: groups decide policy, role and cost center', (provider) =>
  withCompany(async ({ scim, expectTraveler }) => {
    const dialect = dialects[provider];
    const send = async (method: string, path: string, body?: object) => {
      const answer = await scim.send(method, path, body);
      expect([method, path, answer.status]).toEqual([
        method,
        path,
        method === 'POST' ? 201 : expect.any(Number),
      ]);
      expect(answer.status).toBeLessThan(300);
      return answer.body;
    };
    const createUser = async (name: string): Promise<string> =>
      (await send('POST', '/Users', dialect.user(name))).id;
    const pushGroup = async (name: string): Promise<string> => {
      const found = await scim.send(
        'GET',
        `/Groups?filter=${encodeURIComponent(`displayName eq "${name}"`)}`,
      );
      expect(found.body.totalResults).toBe(0);
      return (await send('POST', '/Groups', dialect.group(name))).id;
    };
    const patch = (group: string, ...operations: object[]) =>
      send('PATCH', `/Groups/${group}`, { schemas: [PATCH], Operations: operations });
    const add = (group: string, ...ids: string[]) => patch(group, dialect.add(ids.map(dialect.member)));

    // Users come before their groups, and a group before its members.
    const [ada, ben] = [await createUser('ada'), await createUser('ben')];
    const before = await scim.send('GET', `/Users/${ada}`);
    const [managers, vip] = [await pushGroup('Travel managers'), await pushGroup('VIP')];
    const [paris, lyon] = [await pushGroup('Site Paris'), await pushGroup('Site Lyon')];
    await expectTraveler('ada', {});
    await add(managers, ada, ben);
    await add(vip, ada);
    await add(paris, ada, ben);
    await expectTraveler('ada', { policy: 'Gold', roles: ['premium'], center: 'Paris' });
    await expectTraveler('ben', { policy: 'Gold', center: 'Paris' });
    // The group of a user that comes later is known already.
    const cy = await createUser('cy');
    await add(lyon, cy);
    await expectTraveler('cy', { center: 'Lyon' });
    // What groups decide changes neither version nor time of the user.
    const after = await scim.send('GET', `/Users/${ada}`);
    expect([after.headers.get('etag'), after.body.meta]).toEqual([
      before.headers.get('etag'),
      before.body.meta,
    ]);

    // Ben moves to Lyon, and Ada is no VIP any more.
    await patch(paris, dialect.remove(ben));
    await add(lyon, ben);
    await patch(vip, dialect.remove(ada));
    await expectTraveler('ben', { policy: 'Gold', center: 'Lyon' });
    await expectTraveler('ada', { policy: 'Gold', center: 'Paris' });

    // A group that is renamed is not there for the mapping, so that nothing changes, and decides when it has its name again.
    await patch(managers, dialect.rename(managers, 'Managers of travel'));
    await send('PATCH', `/Users/${ada}`, {
      schemas: [PATCH],
      Operations: [{ op: 'replace', path: 'title', value: 'Director' }],
    });
    await expectTraveler('ada', { policy: 'Gold', center: 'Paris' });
    await patch(managers, dialect.rename(managers, 'Travel managers'));
    await patch(managers, dialect.remove(ada));
    await expectTraveler('ada', { center: 'Paris' });
    await expectTraveler('ben', { policy: 'Gold', center: 'Lyon' });

    // A deleted group takes nothing away, and another group of that name decides from then on.
    await send('DELETE', `/Groups/${managers}`);
    await expectTraveler('ben', { policy: 'Gold', center: 'Lyon' });
    const again = await pushGroup('Travel managers');
    await add(again, ben);
    await expectTraveler('ben', { policy: 'Gold', center: 'Lyon' });

    // Somebody who leaves has no access any more, whatever becomes of the groups.
    await send('PATCH', `/Users/${ben}`, {
      schemas: [PATCH],
      Operations: [{ op: 'replace', path: 'active', value: false }],
    });
    await patch(again, dialect.remove(ben));
    await expectTraveler('ben', { archived: true, center: 'Lyon' });
    await expectTraveler('ada', { center: 'Paris' });
  }),
);
