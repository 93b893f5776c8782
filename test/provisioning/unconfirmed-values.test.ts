import { nextCheckAt } from '../../src/model/identity.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { urns } from '../../src/schema/resource.ts';
import { emailsOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than `lateMs`. */
const CHECK_MS = 31 * SECOND_MS;

/** Makes the travel API accept these fields without a change: answers and reads show the values before. Returns a function that ends it. */
function ignoreFields({ travel }: ProvisioningFixture, ...names: string[]): () => void {
  travel.faultFor = ({ verb, body }) => {
    if (verb === 'patch' && body) for (const name of names) delete body[name];
    return undefined;
  };
  return () => {
    travel.faultFor = () => undefined;
  };
}

const bodies = ({ travel }: ProvisioningFixture) =>
  travel.calls.filter(({ verb }) => verb === 'patch').map(({ body }) => body);

async function createAda({ bridge, travel }: ProvisioningFixture, extra: ScimResource = {}): Promise<string> {
  const { id } = await bridge.users.create(users, person('Ada', extra));
  travel.calls.length = 0;
  return id;
}

async function editByHand(
  fixture: ProvisioningFixture,
  id: string,
  values: Partial<TravelUser>,
): Promise<void> {
  const traveler = await fixture.traveler(id);
  if (traveler) fixture.travel.travelers.set(traveler.id, { ...traveler, ...values });
}

const travelExtension = (values: ScimResource): ScimResource => ({ [urns.travel]: values });

describe('a deactivation that the travel API accepts and does not carry out', () => {
  test.each(['deactivation', 'DELETE'])(
    'is a finding, and is sent again each hour until the traveler is archived (%s)',
    (change) =>
      withFixture(async (fixture) => {
        const id = await createAda(fixture);
        const end = ignoreFields(fixture, 'archived');
        if (change === 'DELETE') await fixture.bridge.users.remove(users, id);
        else await fixture.patch(id, { active: false });
        expect(await fixture.findings(id)).toEqual(['archived: unconfirmed']);
        await fixture.reconcileAfter(CHECK_MS);
        expect(await fixture.identity(id)).toMatchObject({ state: 'synced' });
        expect(await fixture.findings(id)).toEqual(['archived: notApplied']);
        expect(bodies(fixture)).toHaveLength(1);
        for (let hours = 1; hours <= 5; hours += 1) {
          await fixture.reconcileAfter(HOUR_MS);
          await fixture.reconcileAfter(CHECK_MS);
          expect(await fixture.findings(id)).toEqual(['archived: notApplied']);
        }
        expect(bodies(fixture)).toHaveLength(6);
        end();
        await fixture.reconcileAfter(HOUR_MS);
        expect((await fixture.traveler(id))?.archived).toBe(true);
        expect(await fixture.findings(id)).toEqual([]);
      }),
  );

  test.each([true, false])('is sent again when the IdP states it again (after the check: %s)', (isChecked) =>
    withFixture(async (fixture) => {
      const id = await createAda(fixture);
      const end = ignoreFields(fixture, 'archived');
      await fixture.patch(id, { active: false });
      if (isChecked) await fixture.reconcileAfter(CHECK_MS);
      end();
      const { version } = await fixture.identity(id);
      await fixture.patch(id, { active: false });
      expect((await fixture.traveler(id))?.archived).toBe(true);
      expect(await fixture.identity(id)).toMatchObject({ version, findings: [] });
      fixture.travel.calls.length = 0;
      await fixture.patch(id, { active: false });
      expect(fixture.travel.calls).toEqual([]);
    }),
  );

  test.each(['unresolved', 'out'] as const)('is not sent again while the scope is %s', (scope) =>
    withFixture(
      async (fixture) => {
        const { bridge, patch, identity, reconcileAfter } = fixture;
        const contractors = await bridge.groups.create(users, { displayName: 'Contractors' }, []);
        const id = await createAda(fixture);
        ignoreFields(fixture, 'archived');
        await patch(id, { active: false });
        await reconcileAfter(CHECK_MS);
        if (scope === 'unresolved') await bridge.groups.remove(users, contractors.id);
        else await patch(id, { userType: 'Robot' });
        await patch(id, { active: true });
        const { length } = fixture.travel.writes();
        for (let hours = 1; hours <= 3; hours += 1) await reconcileAfter(HOUR_MS);
        expect(fixture.travel.writes()).toHaveLength(length);
        expect(nextCheckAt(await identity(id))).toBeUndefined();
        expect(await fixture.findings(id)).toEqual([
          scope === 'unresolved' ? '*: scopeUnresolved' : '*: outOfScope',
        ]);
      },
      { mapping: { scope: 'not (groups[display eq "Contractors"]) and not (userType eq "Robot")' } },
    ),
  );

  test('ends when somebody archives the traveler, without drift', () =>
    withFixture(
      async (fixture) => {
        const id = await createAda(fixture);
        ignoreFields(fixture, 'archived');
        await fixture.patch(id, { active: false });
        await fixture.reconcileAfter(CHECK_MS);
        await editByHand(fixture, id, { archived: true });
        await fixture.importTravelers();
        expect(await fixture.findings(id)).toEqual([]);
        expect(bodies(fixture)).toHaveLength(1);
      },
      { policies: { drift: 'correct' } },
    ));

  test('counts against the safety valve once', () =>
    withFixture(
      async (fixture) => {
        const id = await createAda(fixture);
        const bob = await fixture.bridge.users.create(users, person('Bob'));
        const end = ignoreFields(fixture, 'archived');
        await fixture.patch(id, { active: false });
        await fixture.reconcileAfter(CHECK_MS);
        await fixture.reconcileAfter(HOUR_MS);
        end();
        await fixture.patch(bob.id, { active: false });
        expect((await fixture.traveler(bob.id))?.archived).toBe(true);
        expect(await fixture.findings(id)).toEqual(['archived: notApplied']);
      },
      { policies: { safetyValve: { share: 0, minimum: 1, windowMs: HOUR_MS } } },
    ));

  test('is sent again each hour also if the travel API deletes nobody', () =>
    withFixture(
      async (fixture) => {
        const id = await createAda(fixture);
        fixture.travel.faultFor = ({ verb, body }) => {
          delete body?.['archived'];
          return verb === 'remove' ? { kind: 'forbidden' } : undefined;
        };
        await fixture.bridge.users.remove(users, id);
        for (let checks = 0; checks < 5; checks += 1) await fixture.reconcileAfter(CHECK_MS);
        expect(bodies(fixture)).toHaveLength(1);
        expect(await fixture.findings(id)).toEqual(['archived: notDeleted', 'archived: notApplied']);
        await fixture.reconcileAfter(HOUR_MS);
        expect(bodies(fixture)).toHaveLength(2);
      },
      { policies: { deprovision: 'delete' } },
    ));

  test('is no refusal to the IdP if the travel API refuses another value', () =>
    withFixture(async (fixture) => {
      const id = await createAda(fixture);
      fixture.travel.faultFor = ({ body }) => {
        delete body?.['archived'];
        const fields = [{ field: 'firstName', code: 'invalid', message: 'no' }];
        return body?.['firstName'] === 'Bad' ? { kind: 'invalid', fields } : undefined;
      };
      const bad = { name: { givenName: 'Bad', familyName: 'Smith' } };
      await fixture.patch(id, { active: false, ...bad });
      expect(await fixture.findings(id)).toContain('archived: unconfirmed');
      await fixture.reconcileAfter(CHECK_MS);
      await fixture.patch(id, { ...bad, nickName: 'A' });
      expect(await fixture.identity(id)).toMatchObject({ state: 'refused' });
      expect(await fixture.findings(id)).toContain('archived: notApplied');
    }));

  test('ends with a reactivation', () =>
    withFixture(async (fixture) => {
      const id = await createAda(fixture);
      ignoreFields(fixture, 'archived');
      await fixture.patch(id, { active: false });
      await fixture.reconcileAfter(CHECK_MS);
      await fixture.patch(id, { active: true });
      await fixture.reconcileAfter(2 * HOUR_MS);
      expect(await fixture.findings(id)).toEqual([]);
      expect((await fixture.traveler(id))?.archived).toBe(false);
    }));
});

test.each(['PATCH', 'POST'])(
  'an archive that the travel API carries out only after the return of the person is undone (%s)',
  (way) =>
    withFixture(async (fixture) => {
      const old = await createAda(fixture);
      const end = ignoreFields(fixture, 'archived');
      if (way === 'PATCH') await fixture.patch(old, { active: false });
      else await fixture.bridge.users.remove(users, old);
      end();
      if (way === 'PATCH') await fixture.patch(old, { active: true });
      const id = way === 'PATCH' ? old : (await fixture.bridge.users.create(users, person('Ada'))).id;
      await editByHand(fixture, id, { archived: true });
      await fixture.reconcileAfter(CHECK_MS);
      expect((await fixture.traveler(id))?.archived).toBe(false);
      expect(await fixture.findings(id)).toEqual([]);
      // The alarm does not count the old user any more.
      expect(await fixture.findings(old)).toEqual(way === 'PATCH' ? [] : ['*: passedOn']);
      await fixture.reconcileAfter(CHECK_MS);
      expect((await fixture.identity(id)).readAgainAt).toBeUndefined();
    }),
);

test('a value that the answer does not show yet, and a later read does, has arrived', () =>
  withFixture(
    async (fixture) => {
      const id = await createAda(fixture);
      ignoreFields(fixture, 'archived');
      await fixture.patch(id, { active: false });
      await editByHand(fixture, id, { archived: true });
      await fixture.reconcileAfter(CHECK_MS);
      expect(await fixture.identity(id)).toMatchObject({
        ...{ state: 'synced', findings: [] },
        applied: { archived: { sent: true, seen: true } },
      });
      await fixture.importTravelers();
      expect(bodies(fixture)).toHaveLength(1);
    },
    { policies: { drift: 'correct' } },
  ));

test('an address that was not applied is sent again once a day', () =>
  withFixture(async (fixture) => {
    const id = await createAda(fixture);
    const end = ignoreFields(fixture, 'email');
    await fixture.patch(id, emailsOf('adele@corp.example'));
    await fixture.reconcileAfter(CHECK_MS);
    expect(await fixture.findings(id)).toEqual(['email: notApplied']);
    await fixture.reconcileAfter(DAY_MS - HOUR_MS);
    expect(bodies(fixture)).toHaveLength(1);
    end();
    await fixture.reconcileAfter(HOUR_MS);
    expect((await fixture.traveler(id))?.email).toBe('adele@corp.example');
    expect(await fixture.findings(id)).toEqual([]);
  }));

test('roles that were neither granted nor removed are findings, and are sent with the next change of them', () =>
  withFixture(async (fixture) => {
    const id = await createAda(fixture, { roles: [{ value: 'organizer' }] });
    const end = ignoreFields(fixture, 'roles');
    await fixture.patch(id, { roles: [{ value: 'premium' }] });
    await fixture.reconcileAfter(CHECK_MS);
    expect((await fixture.findings(id)).toSorted()).toEqual([
      'roles.organizer: notApplied',
      'roles.premium: notApplied',
    ]);
    end();
    await fixture.reconcileAfter(2 * DAY_MS);
    expect(bodies(fixture)).toHaveLength(1);
    await fixture.patch(id, { roles: [{ value: 'premium' }, { value: 'guest' }] });
    await fixture.reconcileAfter(CHECK_MS);
    expect((await fixture.traveler(id))?.roles?.toSorted()).toEqual(['guest', 'premium']);
    expect(await fixture.findings(id)).toEqual([]);
  }));

test('a role that a create did not grant is a finding', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb, body }) => {
      if (verb === 'create' && body) body.roles = ['guest'];
      return undefined;
    };
    const id = await createAda(fixture, { roles: [{ value: 'organizer' }] });
    await fixture.reconcileAfter(CHECK_MS);
    expect(await fixture.findings(id)).toEqual(['roles.organizer: notApplied']);
  }));

test('a boolean and a date that were not applied are findings, and are sent again when the value changes', () =>
  withFixture(async (fixture) => {
    const id = await createAda(
      fixture,
      travelExtension({ separateIcsEmails: false, dateOfBirth: '1990-02-28' }),
    );
    const end = ignoreFields(fixture, 'separateIcsEmails', 'dateOfBirth');
    await fixture.patch(id, travelExtension({ separateIcsEmails: true, dateOfBirth: '1990-02-27' }));
    await fixture.reconcileAfter(CHECK_MS);
    expect((await fixture.findings(id)).toSorted()).toEqual([
      'dateOfBirth: notApplied',
      'separateIcsEmails: notApplied',
    ]);
    end();
    await fixture.patch(id, travelExtension({ separateIcsEmails: true, dateOfBirth: '1990-02-26' }));
    expect(await fixture.traveler(id)).toMatchObject({ dateOfBirth: '1990-02-26' });
    expect(await fixture.findings(id)).toEqual(['separateIcsEmails: notApplied']);
  }));

test('another letter case, a date with a time, an absent value and rewritten texts are no other values', () =>
  withFixture(async (fixture) => {
    const { travel } = fixture;
    travel.faultFor = ({ verb, body }) => {
      if (verb !== 'create' || !body) return undefined;
      body.email = String(body.email).toUpperCase();
      body.dateOfBirth = `${String(body.dateOfBirth)}T00:00:00Z`;
      body.currency = 'eur';
      body.firstName = 'ADA (rewritten)';
      delete body.separateIcsEmails;
      return undefined;
    };
    const values = { dateOfBirth: '1990-02-28', currency: 'EUR', separateIcsEmails: true };
    const id = await createAda(fixture, travelExtension(values));
    expect(await fixture.findings(id)).toEqual([]);
    await fixture.reconcileAfter(CHECK_MS);
    expect(travel.calls).toEqual([]);
  }));

test('a travel API that does not show whether a traveler is archived causes no finding, and no second call', () =>
  withFixture(async (fixture) => {
    const { travel } = fixture;
    const { patch, read } = travel.users;
    const withoutArchived = async (answering: ReturnType<typeof read>) => {
      const answer = await answering;
      if (answer.kind !== 'ok') return answer;
      return { ...answer, value: { ...answer.value, archived: false, isArchivedUnknown: true as const } };
    };
    const id = await createAda(fixture);
    travel.users.patch = (...call) => withoutArchived(patch(...call));
    travel.users.read = (...call) => withoutArchived(read(...call));
    await fixture.patch(id, { active: false });
    await fixture.reconcileAfter(CHECK_MS);
    await fixture.reconcileAfter(HOUR_MS);
    expect((await fixture.traveler(id))?.archived).toBe(true);
    expect(await fixture.findings(id)).toEqual([]);
    expect(bodies(fixture)).toHaveLength(1);
  }));
