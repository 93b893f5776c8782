import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { provisioningFixture } from '../fixtures/provisioning.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { type Action, type CallOutcome, play } from './model/actions.ts';
import { findViolations } from './model/invariants.ts';

const people = [0, 1, 2, 3];
const who = fc.constantFrom(...people);

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('post' as const), who, address: who }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('address' as const), who, address: who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('active' as const), who, active: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('manager' as const), who, manager: who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('language' as const),
      who,
      language: fc.constantFrom('en', 'fr', ''),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 1_000, 60_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('import' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('vanish' as const), who }) },
);

/** The actions of one step happen at the same time. */
const steps = fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 14 });

/** The outcomes of the calls to the travel API, in order. Calls after the last of them succeed. */
const outcomes: fc.Arbitrary<CallOutcome[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<CallOutcome>('ok') },
    { weight: 2, arbitrary: fc.constant<CallOutcome>('fail') },
    { weight: 2, arbitrary: fc.constant<CallOutcome>('lose') },
    { weight: 1, arbitrary: fc.constant<CallOutcome>('hang') },
    { weight: 1, arbitrary: fc.constant<CallOutcome>('die') },
  ),
  { maxLength: 40 },
);

const deprovision = fc.constantFrom('archive' as const, 'delete' as const);

/** With MODEL_RUNS, that many new random histories are played; else the same ones each time. */
const { MODEL_RUNS, JETBRIDGE_TEST_RING } = process.env;
const usual = { numRuns: JETBRIDGE_TEST_RING === 'all' ? 400 : 80, seed: 20_261_120 };
const runs = MODEL_RUNS === undefined ? usual : { numRuns: Number(MODEL_RUNS) };

test('after random writes of the IdP and random failures of the travel API, every traveler is as the IdP wants', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  const database = await openTestDatabase(directory, true);
  let last = 0;
  const property = fc.asyncProperty(
    steps,
    outcomes,
    deprovision,
    async (randomSteps, randomOutcomes, policy) => {
      last += 1;
      const fixture = await provisioningFixture({
        database,
        name: `model-${last}`,
        policies: { deprovision: policy },
      });
      const ids = await play(fixture, randomSteps, randomOutcomes);
      expect(await findViolations(fixture, ids)).toEqual([]);
    },
  );
  try {
    await fc.assert(property, runs);
  } finally {
    await database.close();
    rmSync(directory, { recursive: true });
  }
}, 600_000);
