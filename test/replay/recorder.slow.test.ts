import { recordScenarios } from '../../src/replay/recorder.ts';
import {
  findOriginals,
  type PlayedDay,
  personalValues,
  playDay,
  scenariosOf,
  withNumberedTexts,
} from '../fixtures/recorded-days.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { createSeed, createTravelResources } from '../idp/travel-service.ts';
import { testDemoDay } from './demo-day.ts';

describe('the day of entra in the demo', () => testDemoDay('entra'));

describe.each(['okta', 'entra'])('a day of %s', (idp) => {
  let service: RunningService;
  let day: PlayedDay;
  beforeAll(async () => {
    service = await startService();
    const seedEmail = 'sam.seed@corp.example';
    await createSeed(service, seedEmail);
    const variables = { ...(await createTravelResources(service)), seedEmail };
    day = await playDay(service, scenariosOf(idp), variables);
  });
  afterAll(() => service.close());

  async function onEmptyService<T>(work: (empty: RunningService) => Promise<T>): Promise<T> {
    const empty = await startService();
    try {
      return await work(empty);
    } finally {
      await empty.close();
    }
  }

  test('passes', () => {
    expect(day.mismatches).toEqual([]);
  });

  test.each([
    [
      'divided into scenarios of seven exchanges',
      { maximum: 7 },
      (exchanges: PlayedDay['exchanges']) => exchanges,
    ],
    ['recorded from the third exchange of each scenario on', {}, dropFirst(3)],
    ['recorded without the bodies of reads', {}, withoutReadBodies],
    [
      'begun late and without the bodies of reads, in scenarios of nine',
      { maximum: 9 },
      (exchanges) => withoutReadBodies(dropFirst(5)(exchanges)),
    ],
  ] satisfies [string, object, (exchanges: PlayedDay['exchanges']) => PlayedDay['exchanges']][])(
    '%s, it passes on an empty service',
    async (_, options, change) => {
      const { scenarios } = await recordScenarios(change(day.exchanges), options);
      const { mismatches } = await onEmptyService((empty) => playDay(empty, scenarios));
      expect(mismatches).toEqual([]);
    },
    120_000,
  );

  test('the files have no value of a person, group or secret of that day', async () => {
    const { scenarios } = await recordScenarios(day.exchanges);
    const text = JSON.stringify(scenarios);
    expect(personalValues(day.exchanges).length).toBeGreaterThan(100);
    expect(findOriginals(text, day.exchanges)).toEqual([]);
    expect(text).not.toContain(service.scimToken);
  });

  test('recorded as it was, it passes on an empty service, where every answer equals the recorded one but for the invented values', async () => {
    const { scenarios } = await recordScenarios(day.exchanges);
    const steps = scenarios.flatMap((scenario) => scenario.steps);
    const played = await onEmptyService((empty) => playDay(empty, scenarios));
    expect(played.mismatches).toEqual([]);
    const again = played.exchanges.filter((_, index) => steps[index]?.note === undefined);
    expect(withNumberedTexts(again)).toEqual(withNumberedTexts(day.exchanges));
  });
});

/** Drops the first exchanges after each pause. */
function dropFirst(count: number): (exchanges: PlayedDay['exchanges']) => PlayedDay['exchanges'] {
  return (exchanges) => {
    let position = 0;
    return exchanges.filter(({ at }, index) => {
      const before = exchanges[index - 1];
      position = before && at - before.at < 60_000 ? position + 1 : 0;
      return position >= count;
    });
  };
}

function withoutReadBodies(exchanges: PlayedDay['exchanges']): PlayedDay['exchanges'] {
  return exchanges.map(({ responseBody, ...exchange }) =>
    exchange.method === 'GET' && exchange.status < 400
      ? exchange
      : { ...exchange, ...(responseBody === undefined ? {} : { responseBody }) },
  );
}
