import type { CountedParts } from '../../src/model/translation.ts';
import { type Json, type ScimResource, urns } from '../../src/schema/resource.ts';
import { countChangedParts } from '../../src/translator/values/reference-parts.ts';

const costCenter = (value: Json): ScimResource => ({ [urns.travel]: { costCenter: value } });
const manager = (value: Json): ScimResource => ({ [urns.enterprise]: { manager: value } });
const counted = (part: string): CountedParts => ({ [`${urns.travel}:costCenter`]: part });

test.each<[string, ScimResource, ScimResource, CountedParts | undefined, CountedParts | undefined]>([
  [
    'a new name beside an old id',
    costCenter({ id: '1', name: 'A' }),
    costCenter({ id: '1', name: 'B' }),
    undefined,
    counted('name'),
  ],
  [
    'a new id beside an old name',
    costCenter({ id: '1', name: 'A' }),
    costCenter({ id: '2', name: 'A' }),
    undefined,
    counted('id'),
  ],
  [
    'a name that is added to an id',
    costCenter({ id: '1' }),
    costCenter({ id: '1', name: 'B' }),
    undefined,
    counted('name'),
  ],
  [
    'both at once',
    costCenter({ id: '1', name: 'A' }),
    costCenter({ id: '2', name: 'B' }),
    undefined,
    undefined,
  ],
  [
    'both at once, after the name counted',
    costCenter({ id: '1', name: 'A' }),
    costCenter({ id: '2', name: 'B' }),
    counted('name'),
    undefined,
  ],
  ['a reference that is new', {}, costCenter({ id: '2', name: 'B' }), undefined, undefined],
  [
    'the same again, after the name counted',
    costCenter({ id: '1', name: 'B' }),
    costCenter({ name: 'B', id: '1' }),
    counted('name'),
    counted('name'),
  ],
  [
    'another id, after the name counted',
    costCenter({ id: '1', name: 'B' }),
    costCenter({ id: '2', name: 'B' }),
    counted('name'),
    counted('id'),
  ],
  [
    'one part alone, after the name counted',
    costCenter({ id: '1', name: 'B' }),
    costCenter({ id: '1' }),
    counted('name'),
    undefined,
  ],
  ['no reference any more', costCenter({ id: '1', name: 'B' }), {}, counted('name'), undefined],
  [
    'a new URI beside an old value',
    manager({ value: '1', $ref: 'Users/1' }),
    manager({ value: '1', $ref: 'Users/2' }),
    undefined,
    { [`${urns.enterprise}:manager`]: '$ref' },
  ],
  [
    'a new displayName beside an old value, which names nobody',
    manager({ value: '1' }),
    manager({ value: '1', displayName: 'Max' }),
    undefined,
    undefined,
  ],
])('%s', (_, before, after, now, expected) => {
  expect(countChangedParts(before, after, now)).toEqual(expected);
});
