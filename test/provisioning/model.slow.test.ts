import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { openEmbedded } from '../../src/store/database.ts';
import { provisioningFixture } from '../fixtures/provisioning.ts';
import { type Deed, play, type Weather } from './model/play.ts';
import { faultsOf } from './model/promises.ts';

const people = [0, 1, 2, 3];
const who = fc.constantFrom(...people);

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('post' as const), who, address: who }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('address' as const), who, address: who }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('active' as const), who, active: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('manager' as const), who, of: who }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('language' as const), who, to: fc.constantFrom('en', 'fr', '') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 1_000, 60_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('import' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('vanish' as const), who }) },
);

/** Deeds in one step happen at the same time. */
const steps = fc.array(fc.array(deed, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 14 });

/** What becomes of one call after the other; when it runs out, all go well. */
const weather: fc.Arbitrary<Weather[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<Weather>('fine') },
    { weight: 2, arbitrary: fc.constant<Weather>('fail') },
    { weight: 2, arbitrary: fc.constant<Weather>('lose') },
    { weight: 1, arbitrary: fc.constant<Weather>('hang') },
    { weight: 1, arbitrary: fc.constant<Weather>('die') },
  ),
  { maxLength: 40 },
);

const deprovision = fc.constantFrom('archive' as const, 'delete' as const);

/** The same stories every time; a number of runs from outside hunts with others. */
const { MODEL_RUNS } = process.env;
const runs = MODEL_RUNS === undefined ? { numRuns: 200, seed: 20_261_120 } : { numRuns: Number(MODEL_RUNS) };

test('whatever IdPs write and however the travel API fails, all ends as wanted', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  const database = await openEmbedded(directory, true);
  let fixture = 0;
  const property = fc.asyncProperty(steps, weather, deprovision, async (story, calls, policy) => {
    fixture += 1;
    const one = await provisioningFixture({
      database,
      name: `model-${fixture}`,
      policies: { deprovision: policy },
    });
    const ids = await play(one, story, calls);
    expect(await faultsOf(one, ids)).toEqual([]);
  });
  try {
    await fc.assert(property, runs);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
}, 600_000);
