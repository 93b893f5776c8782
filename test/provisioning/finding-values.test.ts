import { findings } from '../../src/model/findings.ts';
import type { ListedPerson } from '../../src/model/people.ts';
import type { Finding } from '../../src/model/translation.ts';
import { countFindingValues, type FindingValue } from '../../src/provisioning/people/finding-values.ts';

function person(id: string, ...found: Finding[]): ListedPerson {
  return {
    ...{ connection: 'okta', id, userName: `${id}@corp.example`, name: '', state: 'synced', findings: found },
    ...{ isUnmanaged: false, isActive: true, isDeleted: false, lastModified: 0 },
  };
}

function count(people: ListedPerson[], code?: string): Promise<FindingValue[]> {
  async function* pages() {
    yield people;
  }
  return countFindingValues(pages(), code);
}

const summary = (values: FindingValue[]) =>
  values.map(({ code, value, people, example }) => [code, value, people, example.id]);

const unknown = (value: string, field = 'costCenterId'): Finding => ({
  ...{ field, code: 'costCenterUnknown', value, reason: '', remedy: '' },
});

test('people are counted by code, field and value, the most frequent first, with the first person as an example', async () => {
  const people = [
    person('a', unknown('CC-1')),
    person('b', unknown('CC-999'), findings.noEmail()),
    person('c', unknown('CC-999')),
    { ...person('d', unknown('CC-999')), connection: 'entra' },
  ];
  expect(summary(await count(people))).toEqual([
    ['costCenterUnknown', 'CC-999', 2, 'b'],
    ['costCenterUnknown', 'CC-1', 1, 'a'],
    ['noEmail', '', 1, 'b'],
    ['costCenterUnknown', 'CC-999', 1, 'd'],
  ]);
  expect(summary(await count(people, 'noEmail'))).toEqual([['noEmail', '', 1, 'b']]);
});

test('a person who has a finding twice with one value counts once', async () => {
  expect(summary(await count([person('a', unknown('CC-1'), unknown('CC-1'))]))).toEqual([
    ['costCenterUnknown', 'CC-1', 1, 'a'],
  ]);
});

test('the first 1,000 values of a field are told apart, and people with further ones are counted together', async () => {
  const people = Array.from({ length: 1_200 }, (_, index) => person(`p${index}`, unknown(`CC-${index}`)));
  const [rest, ...values] = await count([...people, person('last', unknown('CC-0'), unknown('x', 'other'))]);
  expect(rest).toMatchObject({ field: 'costCenterId', value: '', people: 200, isRest: true });
  expect(rest?.example.id).toBe('p1000');
  expect(values[0]).toMatchObject({ value: 'CC-0', people: 2, isRest: false });
  expect(values).toHaveLength(1_001);
});
