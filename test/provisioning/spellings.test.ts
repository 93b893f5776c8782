import type { TravelUser } from '../../src/model/traveler.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
/** Longer than `lateMs`. */
const CHECK_MS = 31_000;
const cityOf = (locality: string): ScimResource => ({ addresses: [{ type: 'work', locality }] });

/** Makes reads and lists spell cities otherwise than the answers of PATCH and create. */
function respellCities({ travel }: ProvisioningFixture, spell: (city: string) => string) {
  const respelled = (traveler: TravelUser): TravelUser => {
    const { address } = traveler;
    if (!address?.city) return traveler;
    return { ...traveler, address: { ...address, city: spell(address.city) } };
  };
  const { read, readPage } = travel.users;
  travel.users.read = async (id) => {
    const answer = await read(id);
    return answer.kind === 'ok' ? { kind: 'ok', value: respelled(answer.value) } : answer;
  };
  travel.users.readPage = async (offset, limit) => {
    const answer = await readPage(offset, limit);
    if (answer.kind !== 'ok') return answer;
    return { kind: 'ok', value: { ...answer.value, users: answer.value.users.map(respelled) } };
  };
}

const patches = ({ travel }: ProvisioningFixture) => travel.calls.filter(({ verb }) => verb === 'patch');

async function importAndCheck(fixture: ProvisioningFixture): Promise<void> {
  await fixture.importTravelers();
  await fixture.reconcileAfter(CHECK_MS);
}

async function moveByHand(fixture: ProvisioningFixture, id: string, city: string): Promise<void> {
  const traveler = await fixture.traveler(id);
  if (traveler) fixture.travel.travelers.set(traveler.id, { ...traveler, address: { city } });
}

test.each(['report', 'correct'] as const)(
  'a read that differs from an answer in case, spaces, punctuation or compatibility letters only is no drift (%s)',
  (drift) =>
    withFixture(
      async (fixture) => {
        respellCities(fixture, (city) => `  ${city.toUpperCase().replace('.', ' ')}-`);
        const { id } = await fixture.bridge.users.create(users, person('Ada', cityOf('St. Gallen')));
        await importAndCheck(fixture);
        expect(await fixture.findings(id)).toEqual([]);
        expect(patches(fixture)).toEqual([]);
      },
      { policies: { drift } },
    ),
);

test('with `correct`, a person who changes a field again after its correction is corrected again', () =>
  withFixture(
    async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Ada', cityOf('St Gallen')));
      for (let times = 0; times < 3; times += 1) {
        await moveByHand(fixture, id, 'Bern');
        await importAndCheck(fixture);
        expect(await fixture.traveler(id)).toMatchObject({ address: { city: 'St Gallen' } });
      }
      expect(patches(fixture)).toHaveLength(3);
    },
    { policies: { drift: 'correct' } },
  ));
