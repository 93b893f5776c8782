import { filterChoices } from '../../../src/admin/ui/views/people/texts.ts';

const none = { synced: 0, dirty: 0, pending: 0, refused: 0, held: 0 };
const counts = [
  {
    ...{ connection: 'entra', people: 1204, unmanaged: 0, areFindingsCut: false },
    states: { ...none, synced: 1200, held: 4 },
    findings: [{ code: 'notFound', people: 3 }],
  },
  {
    ...{ connection: 'okta', people: 2, unmanaged: 0, areFindingsCut: true },
    states: { ...none, synced: 2 },
    findings: [
      { code: 'notFound', people: 1 },
      { code: 'incomplete', people: 2 },
    ],
  },
];
const labels = (choices: { label: string }[]) => choices.map(({ label }) => label);

test('the choices have the numbers of people of all connections', () => {
  const { connections, states, findings } = filterChoices(counts, {});
  expect(labels(connections)).toEqual(['entra (1,204)', 'okta (2)']);
  expect(labels(states)).toContain('in step (1,202)');
  expect(labels(findings)).toEqual(['incomplete (2+)', 'not found (4+)']);
});

test('with a chosen connection, states and findings are counted in it', () => {
  const { connections, states, findings } = filterChoices(counts, { connection: 'entra', finding: 'gone' });
  expect(labels(connections)).toEqual(['entra (1,204)', 'okta (2)']);
  expect(states[0]).toEqual({ value: 'synced', label: 'in step (1,200)' });
  expect(labels(findings)).toEqual(['gone (0)', 'not found (3)']);
});
