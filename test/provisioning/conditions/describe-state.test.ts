import type { Condition } from '../../../src/model/conditions.ts';
import { describeState } from '../../../src/provisioning/conditions/describe-state.ts';
import { NOW, soundFacts, summaryOf } from './facts.ts';

const condition = (text: string, more: Partial<Condition> = {}): Condition => ({
  ...{ kind: 'findings', connection: 'okta', severity: 'warning', text },
  ...more,
});
const outage = condition('The travel API answers 503.', { kind: 'travelOutage', severity: 'failing' });
const token = condition('A token of the connection okta ends on 2026-12-19.', { kind: 'tokenEnds' });
const many = condition('Cost center unknown for 2,000 of 2,001 people.');

test.each<[string, Partial<Parameters<typeof describeState>[0]>, string, string]>([
  [
    'a service that has only imported travelers',
    { summaries: [summaryOf('okta', { hasUsers: false })] },
    'empty',
    'No identity provider has sent a person yet.',
  ],
  ['everybody in step', {}, 'inStep', 'All 2,001 people are in step with the travel service.'],
  [
    'everybody in step, and some with values that cannot be used',
    { summaries: [summaryOf('okta', { withFindings: 9 })] },
    'inStep',
    'All 2,001 people are in step with the travel service; 9 have findings.',
  ],
  [
    'a queue that is worked on',
    { summaries: [summaryOf('okta', { states: { dirty: 37 } })] },
    'working',
    '37 people are waiting: their changes are on the way to the travel service.',
  ],
  [
    'work for an admin',
    { summaries: [summaryOf('okta', { states: { synced: 1_198, held: 3, refused: 1, pending: 2 } })] },
    'attention',
    '1,198 of 1,204 people are in step with the travel service; 3 are held, 1 is refused, 2 are incomplete.',
  ],
  [
    'failures that concern some people only',
    {
      summaries: [
        summaryOf('okta', { states: { synced: 1_203, dirty: 1 }, failing: { people: 1, oldest: NOW } }),
      ],
    },
    'attention',
    '1,203 of 1,204 people are in step with the travel service; 1 waits after a failed attempt.',
  ],
  [
    'a warning about people who are in step',
    { conditions: [many] },
    'attention',
    'All 2,001 people are in step with the travel service. Cost center unknown for 2,000 of 2,001 people.',
  ],
  [
    'a condition that the numbers tell already',
    {
      conditions: [condition('Changes of 3 people are held.', { kind: 'hold', subject: 'safetyValve' })],
      summaries: [summaryOf('okta', { states: { held: 3 } })],
    },
    'attention',
    '2,001 of 2,004 people are in step with the travel service; 3 are held.',
  ],
  [
    'rules that wait, for which nobody is held',
    { conditions: [condition('Other rules wait.', { kind: 'proposedRules' })] },
    'attention',
    'All 2,001 people are in step with the travel service. Other rules wait.',
  ],
  [
    'what fails, before all warnings',
    { conditions: [outage, many] },
    'failing',
    'The travel API answers 503.',
  ],
  [
    'many warnings, of which some have the same text',
    { conditions: [token, token, many, condition('One more.'), condition('Another one.')] },
    'attention',
    `All 2,001 people are in step with the travel service. ${token.text} ${many.text} 2 more conditions are open.`,
  ],
  [
    'people of a pilot whose changes are on the way, beside those who are planned',
    {
      summaries: [summaryOf('okta', { states: { synced: 1, dirty: 9 } })],
      connections: soundFacts.connections.map((one) => ({ ...one, mode: 'shadow', pilot: 'userType pr' })),
    },
    'attention',
    '1 of 10 people is in step with the travel service; 9 wait in shadow mode, where the pilot alone is sent.',
  ],
])('%s is described in a sentence', (_name, facts, state, sentence) => {
  expect(describeState({ ...soundFacts, conditions: [], ...facts })).toEqual({ state, sentence });
});
