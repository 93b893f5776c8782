import {
  choiceText,
  consequenceText,
  outcomeText,
  peopleText,
} from '../../../src/admin/ui/views/held/texts.ts';

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

test('people of a change of rules are counted up to a limit', () => {
  expect(peopleText({ people: 101, isMore: true })).toBe('more than 100 people');
  expect(peopleText({ people: 1, isMore: false })).toBe('1 person');
});

test('a group of several people offers a choice among them', () => {
  expect(choiceText({ people: 14, isMore: false })).toBe('Choose among 14 people');
  expect(choiceText({ people: 1, isMore: false })).toBe('Show details');
});
