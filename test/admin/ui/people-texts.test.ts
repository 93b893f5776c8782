import { prettyBody } from '../../../src/admin/ui/components/texts.ts';
import {
  answerText,
  changeText,
  markOfPerson,
  reasonText,
  travelValue,
} from '../../../src/admin/ui/views/people/texts.ts';
import { fieldLabel, shownText, valueText } from '../../../src/model/value-texts.ts';
import type { Person } from '../../../src/operations/people/people.ts';
import type { PersonExplanation } from '../../../src/operations/people/person.ts';
import { decidingRules, idpValue } from '../../../src/provisioning/people/person-texts.ts';

const names = { cf1: 'Department', cc1: 'R&D Paris' };

test.each([
  ['grace@corp.example', 'grace@corp.example'],
  ['cc1', 'R&D Paris'],
  [true, 'yes'],
  [12, '12'],
  [['a', 'cc1'], 'a, R&D Paris'],
  [[{ data: 'Research' }, { customFieldOptionId: 'cc1' }], 'Research, R&D Paris'],
  [{ street: 'Rue 1' }, '{"street":"Rue 1"}'],
  [{ travelerOf: 'cc1' }, 'the traveler of R&D Paris'],
  [undefined, ''],
  [null, ''],
])('the value %j is shown as %j', (value, text) => {
  expect(valueText(value, names)).toBe(text);
  expect(shownText(value, names)).toBe(text || 'nothing');
});

test.each([
  ['customFields.cf1', 'Department'],
  ['customFields.cf2', 'customFields.cf2'],
  ['address.city', 'City'],
  ['*', 'All fields'],
])('the field %s is named %s', (field, name) => {
  expect(fieldLabel(field, names)).toBe(name);
});

test.each([
  ['archived', false, 'active: false'],
  ['archived', undefined, undefined],
  ['lang', 'fr', 'fr'],
])('the value of the identity provider for %s, %j, is shown as %j', (field, source, shown) => {
  expect(idpValue({ field, source })).toBe(shown);
});

test.each([
  ['archived', true, 'archived'],
  ['archived', false, 'not archived'],
  ['archived', undefined, undefined],
  ['lang', 'fr', 'fr'],
])('the value of the travel service for %s, %j, is shown as %j', (field, held, shown) => {
  expect(travelValue({ field, standing: 'same', rules: [] }, held)).toBe(shown);
});

const explanation: PersonExplanation = {
  ...{ connection: 'okta', id: '1', userName: 'ada', name: 'Ada', isDeleted: false, state: 'synced' },
  ...{ verdict: { status: 'synced' }, findings: [], fields: [], references: [], exchanges: [] },
  ...{ version: 1, rulesGeneration: 1, rulesInForce: 1, attempts: 0, names: {} },
  ...{ createdAt: '2026-11-22T16:00:00.000Z', lastModified: '2026-11-22T16:00:00.000Z' },
};

test.each<[Partial<PersonExplanation>, string]>([
  [{}, 'The traveler has all values of the identity provider.'],
  [
    { verdict: { status: 'noTraveler', because: 'there is no usable email address' }, state: 'pending' },
    'Incomplete, because there is no usable email address.',
  ],
  [
    { verdict: { status: 'waiting', because: 'an attempt is running' }, isDeleted: true },
    'Deleted by the identity provider. Waiting, because an attempt is running.',
  ],
  [
    { findings: [{ field: 'lang', code: 'x', reason: 'y', remedy: 'z' }] },
    'In step with the travel service, with one finding.',
  ],
])('the reason of %j is told', (part, text) => {
  expect(reasonText({ ...explanation, ...part })).toBe(text);
});

test.each<[Partial<Person>, string]>([
  [{}, '✓ in step'],
  [{ isUnmanaged: true }, '⇣ unmanaged'],
  [{ isActive: false }, '– archived'],
  [{ isActive: false, isDeleted: true }, '– archived'],
  [{ isActive: false, state: 'held' }, '‖ held'],
  [{ state: 'pending' }, '○ incomplete'],
])('a person in a list with %j is marked %s', (part, text) => {
  const { connection, id, userName, name, state, findings, lastModified } = explanation;
  const person = { connection, id, userName, name, state, findings, lastModified };
  const { symbol, label } = markOfPerson({
    ...person,
    isUnmanaged: false,
    isActive: true,
    isDeleted: false,
    ...part,
  });
  expect(`${symbol} ${label}`).toBe(text);
});

test('skipped rules are left out, unless there is no other', () => {
  const skipped = { origin: 'file', rule: 'title', outcome: 'skipped' } as const;
  const used = { origin: 'default', rule: 'userType', outcome: 'set' } as const;
  expect(decidingRules([skipped, used])).toEqual([used]);
  expect(decidingRules([skipped])).toEqual([skipped]);
});

test.each([
  [{ status: 200 }, '✓ 200'],
  [{ status: 409, error: 'uniqueness' }, '✗ 409 uniqueness'],
  [{ error: 'ECONNREFUSED' }, '✗ no answer ECONNREFUSED'],
])('the outcome %j is shown as %s', (outcome, text) => {
  expect(answerText(outcome)).toBe(text);
});

test('a body is indented if it is whole JSON', () => {
  expect(prettyBody({ text: '{"a":1}', isCut: false })).toBe('{\n  "a": 1\n}');
  expect(prettyBody({ text: '{"a":1}', isCut: true })).toBe('{"a":1}…');
  expect(prettyBody({ text: 'plain', isCut: false })).toBe('plain');
});

test.each([
  ['imported', 'last change in the travel service'],
  ['synced', 'last change by the identity provider'],
  ['waiting', 'last change by the identity provider'],
] as const)('the last change of a person who is %s is described as "%s"', (status, text) => {
  expect(changeText({ verdict: { status } })).toBe(text);
});
