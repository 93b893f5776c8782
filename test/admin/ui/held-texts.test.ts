import { consequenceText, outcomeText, progressText } from '../../../src/provisioning/holds/hold-texts.ts';

const none = { archived: 0, deleted: 0, changed: 0 };

test.each([
  ['approved', { effects: { ...none, archived: 1 } }, '1 traveler will be archived and loses access.'],
  [
    'approved',
    { effects: { ...none, archived: 1_400, deleted: 2 }, others: 3 },
    '1,400 travelers will be archived and lose access; 2 travelers will be deleted; 3 other people stay held.',
  ],
  [
    'discarded',
    { effects: { ...none, archived: 1 }, others: 1 },
    '1 traveler stays as it is; 1 other person stays held.',
  ],
  ['discarded', { effects: { ...none, archived: 2, changed: 1 } }, '3 travelers stay as they are.'],
] as const)('the consequence of %s %j is told in numbers', (answer, facts, text) => {
  expect(consequenceText(answer, facts)).toBe(text);
});

test('the outcome tells how many people were left out', () => {
  expect(outcomeText('approved', { decided: 14, skipped: 0 })).toBe('Approved for 14 people.');
  expect(outcomeText('discarded', { decided: 1, skipped: 2 })).toBe(
    'Discarded for 1 person. 2 other people were left out: somebody else has decided, or the identity provider has changed them.',
  );
});

test.each([
  [{ people: 14, left: 2 }, '12 of 14 people are done so far.'],
  [{ people: 14, left: 0 }, 'It is carried out.'],
])('the progress of a decision %j is told in numbers', (progress, text) => {
  expect(progressText(progress)).toBe(text);
});
