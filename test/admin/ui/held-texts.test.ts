import { choiceText } from '../../../src/admin/ui/views/held/texts.ts';
import {
  consequenceText,
  groupText,
  outcomeText,
  progressText,
  valuesText,
} from '../../../src/provisioning/holds/hold-texts.ts';

const none = { archived: 0, deleted: 0, changed: 0 };

test.each([
  ['approved', { effects: { ...none, archived: 1 } }, '1 traveler will be archived and loses access.'],
  [
    'approved',
    { effects: { ...none, archived: 1_400, deleted: 2 }, others: 3 },
    '1,400 travelers will be archived and lose access; 2 travelers will be deleted; 3 other people stay held.',
  ],
  [
    'approved',
    { effects: { ...none, changed: 101 }, isMore: true },
    'More than 100 travelers will be changed.',
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
  [
    { people: 10_000, left: 9_000, affected: 300 },
    '1,000 of 10,000 people are done so far; the change affects 300 people.',
  ],
  [{ people: 10_000, left: 0, affected: 1 }, 'It is carried out: the change affects 1 person.'],
])('the progress of a decision %j is told in numbers', (progress, text) => {
  expect(progressText(progress)).toBe(text);
});

test('the values of a field are told with their names and numbers', () => {
  const values = [
    { before: 'cc-1', after: null, people: 1_200 },
    { before: 'x', after: 'y', people: 3 },
  ];
  expect(valuesText({ values, others: 7 }, { 'cc-1': 'Berlin' })).toBe(
    'Berlin → nothing (1,200), "x" → "y" (3), other values (7)',
  );
});

test('people of a change of rules are counted up to a limit', () => {
  expect(groupText({ people: 101, isMore: true })).toBe('more than 100 people');
  expect(groupText({ people: 1, isMore: false })).toBe('1 person');
});

test('a group of several people offers a choice among them', () => {
  expect(choiceText({ people: 14, isMore: false })).toBe('Choose among 14 people');
  expect(choiceText({ people: 1, isMore: false })).toBe('Show details');
  expect(choiceText({ people: 300, isMore: false, generation: 4 })).toBe(
    'Show those who are held one by one',
  );
});
