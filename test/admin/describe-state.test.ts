import { type ConnectionFacts, describeState } from '../../src/admin/describe-state.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const states = { synced: 1204, dirty: 0, pending: 0, refused: 0, held: 0 };
const healthy: ConnectionFacts = {
  ...{ id: 'okta', pause: undefined, outage: undefined, lastAnswer: NOW, dirty: 0, failing: undefined },
};
const down: ConnectionFacts = {
  ...healthy,
  outage: { status: 503, error: undefined },
  ...{ dirty: 37, failing: { people: 5, oldest: NOW - 12 * MINUTE }, lastAnswer: NOW - 20 * MINUTE },
};
const base = { storeFault: undefined, total: 1204, states, hasUsers: true, connections: [healthy], now: NOW };

test.each<[string, Partial<Parameters<typeof describeState>[0]>, string, string]>([
  [
    'a service that has only imported travelers',
    { hasUsers: false, total: 2, states: { ...states, synced: 2 } },
    'empty',
    'No identity provider has sent a person yet.',
  ],
  ['everybody in step', {}, 'inStep', 'All 1,204 people are in step with the travel service.'],
  [
    'a queue that is worked on',
    { states: { ...states, synced: 1167, dirty: 37 } },
    'working',
    'The changes of 37 people are on their way to the travel service.',
  ],
  [
    'work for an admin',
    { states: { ...states, synced: 1198, held: 3, refused: 1, pending: 2 } },
    'attention',
    '1,198 of 1,204 people are in step with the travel service; 3 are held, 1 is refused, 2 lack data.',
  ],
  [
    'failures that concern some people only',
    {
      states: { ...states, synced: 1203, dirty: 1 },
      connections: [{ ...healthy, dirty: 1, failing: { people: 1, oldest: NOW } }],
    },
    'attention',
    '1,203 of 1,204 people are in step with the travel service; 1 waits after a failed attempt.',
  ],
  [
    'an outage',
    { connections: [down] },
    'failing',
    '37 changes have waited for 12 minutes: the travel API answers 503.',
  ],
  [
    'an outage that began after the oldest change was written',
    { connections: [{ ...down, lastAnswer: NOW - 90_000 }] },
    'failing',
    '37 changes have waited for 1 minute: the travel API answers 503.',
  ],
  [
    'an outage of one of two connections',
    { connections: [healthy, { ...down, id: 'entra', outage: { status: undefined, error: 'ETIMEDOUT' } }] },
    'failing',
    '37 changes have waited for 12 minutes: the travel API of entra does not answer (ETIMEDOUT).',
  ],
  [
    'a pause without changes',
    { connections: [{ ...healthy, pause: 'throttled' }] },
    'failing',
    'The travel API asks to be called later. No change waits for it.',
  ],
  [
    'a refused credential before any attempt of a change',
    {
      connections: [
        { ...healthy, pause: 'unauthorized', outage: { status: 401, error: undefined }, dirty: 1 },
      ],
    },
    'failing',
    '1 change waits: the travel API refuses the credential (401).',
  ],
  [
    'a full disk',
    { storeFault: 'the disk is full', connections: [down] },
    'failing',
    'The database cannot be written: the disk is full.',
  ],
])('%s is described in one sentence', (_name, facts, state, sentence) => {
  expect(describeState({ ...base, ...facts })).toEqual({ state, sentence });
});
