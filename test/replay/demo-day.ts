import { recordScenarios } from '../../src/replay/recorder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { playDay, scenariosOf } from '../fixtures/recorded-days.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

/** The test of a recording of the day of an IdP that the demo plays. */
export function testDemoDay(idp: string): void {
  let services: RunningService[];
  beforeEach(async () => {
    services = [await startService(), await startService()];
  });
  afterEach(() => Promise.all(services.map((service) => service.close())));

  test('recorded and played on an empty service, it leaves the same travelers but for the invented values', async () => {
    const [service, empty] = services;
    if (!service || !empty) throw new Error('no services');
    const day = await playDay(
      service,
      scenariosOf(idp).filter(({ tags }) => tags.includes('demo')),
    );
    const { scenarios } = await recordScenarios(day.exchanges);
    const withoutCleanUp = scenarios.map(({ steps, ...scenario }) => ({
      ...scenario,
      steps: steps.filter(({ note }) => note !== 'clean-up'),
    }));
    const { mismatches } = await playDay(empty, withoutCleanUp);
    expect(mismatches).toEqual([]);
    const travelers = await withoutValues(service);
    expect(travelers.length).toBeGreaterThan(2);
    expect(await withoutValues(empty)).toEqual(travelers);
  });
}

/** Waits until every write has reached the travel service: an answer may precede it. */
function waitUntilReconciled(service: RunningService): Promise<void> {
  return eventually(async () => {
    const dirty = (await service.people('default')).filter(({ state }) => state === 'dirty');
    if (dirty.length > 0) throw new Error(`${dirty.length} identities are dirty`);
  });
}

/** Returns the travelers of a service with the form of each text in its place; ids and times are left out. */
async function withoutValues(service: RunningService): Promise<string[]> {
  await waitUntilReconciled(service);
  const { url, travelApiKey } = service;
  const answer = await fetch(`${url}/api/users?limit=100`, {
    headers: { Authorization: `Bearer ${travelApiKey}` },
  });
  const { data } = (await answer.json()) as { data: object[] };
  const shapes = data.map((traveler) =>
    JSON.stringify(traveler, (name, value) => {
      if (/id$|At$/i.test(name)) return value === null ? null : 'set';
      return typeof value === 'string' && name !== 'countryCode' ? formOf(value) : value;
    }),
  );
  return shapes.toSorted();
}

/** Letters, digits and separators of a text, without their number. */
function formOf(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, 'id')
    .replace(/\p{L}[\p{L}\p{M}]*/gu, 'a')
    .replace(/\d+/g, '9')
    .replace(/a\.(a\.)*a$/, 'a.a');
}
