import { ProvisioningError } from '../../../src/provisioning/provisioning-error.ts';
import { type ScimResource, urns } from '../../../src/schema/resource.ts';
import type { Call, TravelFault } from '../../fixtures/fake-travel.ts';
import { emailsOf, type ProvisioningFixture } from '../../fixtures/provisioning.ts';

/** Something that happens to a person, or to everybody. */
export type Deed =
  | { do: 'post'; who: number; address: number }
  | { do: 'address'; who: number; address: number }
  | { do: 'active'; who: number; active: boolean }
  | { do: 'delete'; who: number }
  | { do: 'manager'; who: number; of: number }
  | { do: 'language'; who: number; to: string }
  | { do: 'wait'; ms: number }
  | { do: 'import' }
  /** Somebody deletes the traveler by hand. */
  | { do: 'vanish'; who: number };

/** What becomes of one call; after `hang` and `die` the process is dead, and started again. */
export type Weather = 'fine' | 'fail' | 'lose' | 'hang' | 'die';

/** The SCIM ids of all who were ever made. */
export interface Cast {
  /** The present id of each person, by number. */
  present: Map<number, string>;
  all: string[];
}

/** Plays a story in bad weather, and then lets time pass in fine weather until everything has come to rest. */
export async function play(fixture: ProvisioningFixture, story: Deed[][], weather: Weather[]): Promise<Cast> {
  const cast: Cast = { present: new Map(), all: [] };
  const calls = [...weather];
  for (const step of story)
    await inWeather(fixture, calls, () => step.map((deed) => happen(fixture, cast, deed)));
  fixture.travel.faultFor = () => undefined;
  for (let hour = 0; hour < 6; hour += 1) {
    await fixture.reconcileAfter(30 * 60_000);
    fixture.clock.advance(30 * 60_000);
    await fixture.importTravelers();
  }
  return cast;
}

async function inWeather(
  fixture: ProvisioningFixture,
  calls: Weather[],
  begin: () => Promise<void>[],
): Promise<void> {
  let dying = () => {};
  const death = new Promise<'dead'>((resolve) => {
    dying = () => resolve('dead');
  });
  fixture.travel.faultFor = (call) => {
    const trouble = troubleOf(call, calls.shift());
    if (trouble === 'hang' || trouble === 'die') dying();
    return trouble;
  };
  const deeds = Promise.all(begin());
  if ((await Promise.race([deeds, death])) !== 'dead') return;
  // Answered from what is committed, when the budget is used up; one that began late has its own.
  let isAnswered = false;
  const answered = deeds.then(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    fixture.clock.advance(800);
    await Promise.race([answered, new Promise((resolve) => setImmediate(resolve))]);
  }
  await fixture.restart();
}

function troubleOf({ verb }: Call, weather: Weather = 'fine'): TravelFault {
  switch (weather) {
    case 'fine':
      return undefined;
    case 'fail':
      return { kind: 'unavailable', text: 'down' };
    case 'lose':
      return 'lose';
    case 'hang':
    case 'die':
      // An import waits for its pages, and nobody for the import.
      return verb === 'readPage' ? undefined : weather;
  }
}

async function happen(fixture: ProvisioningFixture, cast: Cast, deed: Deed): Promise<void> {
  const { users } = fixture.bridge;
  const connection = fixture.connection.id;
  const at = 'who' in deed ? cast.present.get(deed.who) : undefined;
  const patch = async (values: ScimResource) => {
    if (at !== undefined) await fixture.patch(at, values);
  };
  try {
    switch (deed.do) {
      case 'post': {
        const { id } = await users.create(connection, newcomer(deed.who, deed.address));
        cast.present.set(deed.who, id);
        cast.all.push(id);
        return;
      }
      case 'address':
        return await patch(emailsOf(address(deed.address)));
      case 'active':
        return await patch({ active: deed.active });
      case 'manager':
        return await patch({ [urns.enterprise]: { manager: { value: cast.present.get(deed.of) ?? '' } } });
      case 'language':
        return await patch({ preferredLanguage: deed.to });
      case 'vanish':
        if (at !== undefined) fixture.travel.travelers.delete((await fixture.identity(at)).travelId ?? '');
        return;
      case 'delete':
        if (at === undefined) return;
        await users.remove(connection, at);
        if (cast.present.get(deed.who) === at) cast.present.delete(deed.who);
        return;
      default:
        return await pass(fixture, deed);
    }
  } catch (error) {
    // A POST of a name that is there, or a write to somebody just deleted.
    if (!(error instanceof ProvisioningError) || error.kind === 'refused') throw error;
  }
}

/** Nobody waits for what happens in the background: it ends with the process. */
async function pass(
  fixture: ProvisioningFixture,
  deed: { do: 'wait'; ms: number } | { do: 'import' },
): Promise<void> {
  let dead = () => {};
  const death = new Promise<void>((resolve) => {
    dead = resolve;
  });
  const { faultFor: trouble } = fixture.travel;
  fixture.travel.faultFor = async (call) => {
    const outcome = await trouble(call);
    if (outcome === 'hang' || outcome === 'die') dead();
    return outcome;
  };
  if (deed.do === 'wait') fixture.clock.advance(deed.ms);
  const work =
    deed.do === 'wait' ? fixture.bridge.reconcileDue() : fixture.bridge.importer.run(fixture.connection);
  await Promise.race([work, death]);
}

function address(number: number): string {
  return `a${number}@corp.example`;
}

/** People of even number have an address for a userName. */
function newcomer(number: number, at: number): ScimResource {
  return {
    userName: number % 2 === 0 ? `p${number}@login.example` : `p${number}`,
    externalId: `E${number}`,
    name: { givenName: `P${number}`, familyName: 'Smith' },
    ...emailsOf(address(at)),
    active: true,
  };
}
