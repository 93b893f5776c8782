import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../src/schema/resource.ts';
import {
  type Definition,
  isWritable,
  observeEach,
  type PublishedAttribute,
  readPublishedType,
  readValue,
  resourceWithValue,
  sampleValue,
  tableByPath,
} from '../fixtures/published.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

/** The first of the attributes with the same characteristics, at the same depth, of a core schema or of an extension. */
export function firstOfEachKind(attributes: PublishedAttribute[]): PublishedAttribute[] {
  const kinds = new Map<string, PublishedAttribute>();
  for (const attribute of attributes) {
    const { urn, parent, definition } = attribute;
    const { type, multiValued, mutability, canonicalValues, subAttributes } = definition;
    const hasValue = subAttributes?.some(({ name }) => name === 'value');
    const place = [urn !== undefined, parent?.multiValued];
    const key = JSON.stringify([...place, type, multiValued, mutability, !canonicalValues, hasValue]);
    if (!kinds.has(key)) kinds.set(key, attribute);
  }
  return [...kinds.values()];
}

/** Sends values of other types, and several values, to the published attributes that `select` returns. */
export function testValueTypes(select: (attributes: PublishedAttribute[]) => PublishedAttribute[]): void {
  let scim: ScimFixture;
  beforeEach(async () => {
    scim = await scimFixture();
  });
  afterEach(() => scim.close());

  test('type: a value of another type is converted to it, or 400 invalidValue', async () => {
    const { attributes } = await readPublishedType(scim, 'User');
    const tried = select(attributes.filter(isSent)).filter(({ path }) => path !== 'userName');
    const others: Json[] = ['some text', 7, true, 'False', { nope: 1 }];
    let names = 0;
    const observed = await observeEach(tried, async (attribute) => {
      const results = [];
      for (const value of others) {
        names += 1;
        const { status, body } = await scim.send('POST', '/Users', {
          ...resourceWithValue(attribute, value),
          userName: `u${names}`,
        });
        results.push(status === 201 ? (readValue(attribute, body) ?? 'nothing') : body.scimType);
      }
      return results;
    });
    expect(observed).toEqual(
      tableByPath(tried, ({ definition }) => others.map((value) => expectedConversion(definition, value))),
    );
  });

  test.each([
    ['User', 'userName', true],
    ['Group', 'displayName', 'invalidValue'],
  ] as const)(
    'multiValued: of two values of a %s, one is left out unless multiValued is true, and a group is refused',
    async (type, unique, outcome) => {
      const { attributes, endpoint } = await readPublishedType(scim, type);
      const tried = select(attributes.filter(isSent)).filter(({ path }) => path !== unique);
      let names = 0;
      const observed = await observeEach(tried, async (attribute) => {
        names += 1;
        const single = { ...attribute.definition, multiValued: false };
        const two = [sampleValue(single, 'a'), sampleValue(single, 'b')];
        const body = { ...resourceWithValue(attribute, two), [unique]: `name ${names}` };
        const answer = await scim.send('POST', endpoint, body);
        if (answer.status !== 201) return answer.body.scimType;
        const value = readValue(attribute, answer.body);
        return Array.isArray(value) ? value.length : isDeepStrictEqual(value, sampleValue(single, 'a'));
      });
      expect(observed).toEqual(
        tableByPath(tried, ({ definition }) => (definition.multiValued ? 2 : outcome)),
      );
    },
  );
}

/** True if clients may send a value of the attribute. */
function isSent({ definition, parent }: PublishedAttribute): boolean {
  return isWritable(definition) && (!parent || isWritable(parent));
}

/** The value that the service stores for a value of another type, or the scimType of its error. */
function expectedConversion(definition: Definition, value: Json): Json {
  const { type, multiValued, subAttributes } = definition;
  if (multiValued) {
    const element = expectedConversion({ ...definition, multiValued: false }, value);
    return typeof element === 'string' ? element : [element];
  }
  if (type === 'complex') {
    if (typeof value === 'object') return 'nothing';
    const named = (wanted: string) => subAttributes?.find(({ name }) => name === wanted);
    // A text in place of a reference such as a cost center is its name.
    const part = named('value') ?? (named('id') && named('name'));
    if (!part) return 'invalidValue';
    const text = expectedConversion(part, value);
    return text === 'invalidValue' ? text : { [part.name]: text };
  }
  if (type === 'boolean') return value === true ? true : value === 'False' ? false : 'invalidValue';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'invalidValue';
}
