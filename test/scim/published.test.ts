import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import {
  type Definition,
  type PublishedAttribute,
  type PublishedType,
  readPublishedType,
  readValue,
  resourceWithValue,
  sampleValue,
} from '../fixtures/published.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

/**
 * Compares the characteristics that /Schemas publishes with the behaviour of the service. The tests iterate over the
 * published attributes, so they cover a new attribute without a change.
 */
// Each test sends some hundred requests.
let scim: ScimService;
beforeEach(async () => {
  scim = await scimService();
});
afterEach(() => scim.close());

const isWritable = ({ mutability }: Definition) => mutability === 'readWrite' || mutability === 'immutable';
const isText = ({ type }: Definition) => ['string', 'reference', 'binary'].includes(type);

/** A body with a value for every attribute that clients may write. */
function sampleBody({ attributes, urn, extensions }: PublishedType, seed: string): JsonObject {
  const body: JsonObject = { schemas: [urn, ...extensions] };
  for (const { urn: extension, definition, parent } of attributes) {
    if (parent || !isWritable(definition)) continue;
    const subAttributes = definition.subAttributes?.filter(isWritable);
    const value = sampleValue({ ...definition, ...(subAttributes ? { subAttributes } : {}) }, seed);
    if (extension === undefined) body[definition.name] = value;
    else body[extension] = { ...(body[extension] as JsonObject), [definition.name]: value };
  }
  return body;
}

/** Maps each attribute's path to the expected value. */
function tableByPath(
  published: PublishedAttribute[],
  expectation: (attribute: PublishedAttribute) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(published.map((attribute) => [attribute.path, expectation(attribute)]));
}

/** Maps each attribute's path to what the service does, one attribute after the other. */
async function observeEach(
  published: PublishedAttribute[],
  observe: (attribute: PublishedAttribute) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  for (const attribute of published) entries.push([attribute.path, await observe(attribute)]);
  return Object.fromEntries(entries);
}

describe.each(['User', 'Group'] as const)('the published schema of %s', (name) => {
  let type: PublishedType;
  let uniqueAttribute: PublishedAttribute;
  let names: number;
  /** Members with all sub-attributes, as responses have them. The service computes all but `value` from the user. */
  let members: Record<string, JsonObject>;
  beforeEach(async () => {
    type = await readPublishedType(scim, name);
    members = name === 'Group' ? { one: await member('one'), two: await member('two') } : {};
    [uniqueAttribute] = type.attributes.filter(({ definition }) => definition.uniqueness === 'server') as [
      PublishedAttribute,
    ];
    names = 0;
  });

  const member = async (seed: string): Promise<JsonObject> => {
    const { body } = await scim.send('POST', '/Users', { userName: seed });
    const display = `display-${seed}-Aa@corp.example`;
    return { value: body.id, type: 'User', display, $ref: body.meta.location };
  };
  const fullBody = (of: PublishedType, seed: string): JsonObject => {
    const body = sampleBody(of, seed);
    return name === 'Group' ? { ...body, members: [members[seed] ?? { value: seed }] } : body;
  };
  const post = (body: JsonObject) => scim.send('POST', type.endpoint, body);
  /** Creates a resource with the given attributes and a unique name. */
  const postOnly = (body: JsonObject) => {
    names += 1;
    return post({ ...body, ...resourceWithValue(uniqueAttribute, `name ${names}`) });
  };
  const count = async (filter: string) => {
    const { status, body } = await scim.send('GET', `${type.endpoint}?filter=${encodeURIComponent(filter)}`);
    return status === 200 ? body.totalResults : body.scimType;
  };
  /** Creates a resource with all attributes; a user also has a group and a traveler. */
  const createComplete = async (): Promise<JsonObject> => {
    const { status, body } = await post(fullBody(type, 'one'));
    expect({ status, body }).toMatchObject({ status: 201 });
    if (name === 'User')
      await scim.send('POST', '/Groups', { displayName: 'Crew-Aa', members: [{ value: body.id }] });
    await scim.service.people('default');
    return (await scim.send('GET', `${type.endpoint}/${body.id}`)).body;
  };

  test('lists every attribute of a response, and a response has every listed attribute', async () => {
    const resource = await createComplete();
    const common = ['schemas', 'id', 'externalId', 'meta', ...type.extensions];
    const publishedPaths = type.attributes.map(({ path }) => path);
    const pathsOf = (container: JsonObject, prefix: string): string[] =>
      Object.entries(container).flatMap(([key, value]) => {
        if (prefix === '' && type.extensions.includes(key)) return pathsOf(value as JsonObject, `${key}:`);
        const path = `${prefix}${key}`;
        const [inner] = [value].flat();
        return typeof inner === 'object' && inner !== null && !common.includes(key)
          ? [path, ...pathsOf(inner as JsonObject, `${path}.`)]
          : [path];
      });
    expect(
      pathsOf(resource, '').filter((path) => !publishedPaths.includes(path) && !common.includes(path)),
    ).toEqual([]);
    const absent = type.attributes.filter((attribute) => readValue(attribute, resource) === undefined);
    expect(absent.map(({ path }) => path)).toEqual([]);
  });

  test('mutability: readWrite and immutable attributes are kept as sent, readOnly and writeOnly ones are not', async () => {
    const body = fullBody(type, 'one');
    const created = await post(body);
    expect(created.body).toMatchObject(body);
    const path = `${type.endpoint}/${created.body.id}`;
    const other = fullBody(type, 'two');
    expect((await scim.send('PUT', path, other)).body).toMatchObject(other);
    const rest = type.attributes.filter(
      ({ definition, parent }) => !isWritable(definition) && (!parent || isWritable(parent)),
    );
    // All attributes of a group are writable, though the service computes those of a member from its id.
    expect(rest.length > 0).toBe(name === 'User');
    for (const attribute of rest) {
      const value = sampleValue(attribute.definition, 'mine');
      for (const answer of [
        await postOnly(resourceWithValue(attribute, value)),
        await scim.send('PUT', path, { ...other, ...resourceWithValue(attribute, value) }),
      ]) {
        const isRefused = answer.status === 400;
        if (!isRefused)
          expect([attribute.path, JSON.stringify(answer.body).includes('mine')]).toEqual([
            attribute.path,
            false,
          ]);
      }
    }
  });

  test('mutability in PATCH: readWrite attributes change, immutable ones are 400 mutability, readOnly and writeOnly ones are ignored', async () => {
    let before = await createComplete();
    const path = `${type.endpoint}/${String(before['id'])}`;
    const observed = await observeEach(type.attributes, async (attribute) => {
      const { definition, parent } = attribute;
      const at = parent?.multiValued ? pathOfFirstElement(attribute, before) : attribute.path;
      const subAttributes = definition.subAttributes?.filter(isWritable) ?? [];
      const value = sampleValue({ ...definition, subAttributes }, `new ${attribute.path}`);
      const { status, body } = await scim.send('PATCH', path, patchOp({ op: 'replace', path: at, value }));
      if (status >= 400) return body.scimType;
      const after = (await scim.send('GET', path)).body;
      const isChanged =
        JSON.stringify(readValue(attribute, after)) !== JSON.stringify(readValue(attribute, before));
      before = after;
      return isChanged ? 'changed' : 'kept';
    });
    const expected: Record<string, string> = {
      readWrite: 'changed',
      immutable: 'mutability',
      readOnly: 'kept',
      writeOnly: 'kept',
    };
    const same = ({ definition }: PublishedAttribute) =>
      definition.type === 'boolean' || definition.canonicalValues !== undefined;
    const published = tableByPath(type.attributes, (attribute) => {
      if (attribute.parent && !isWritable(attribute.parent)) return 'kept';
      // The new sample equals the old one, so nothing changes.
      if (same(attribute) && attribute.definition.mutability === 'readWrite') return 'kept';
      // A PATCH cannot change any sub-attribute of a member.
      return attribute.parent?.name === 'members' ? 'mutability' : expected[attribute.definition.mutability];
    });
    expect(observed).toEqual(published);
  });

  test('returned: default attributes are returned unless the request excludes them, never ones are not', async () => {
    const { id } = await createComplete();
    const read = async (attribute: PublishedAttribute, query: string) => {
      const { body } = await scim.send('GET', `${type.endpoint}/${String(id)}${query}`);
      return readValue(attribute, body) !== undefined;
    };
    const observed = await observeEach(type.attributes, async (attribute) => ({
      plain: await read(attribute, ''),
      asked: await read(attribute, `?attributes=${attribute.path}`),
      excluded: await read(attribute, `?excludedAttributes=${attribute.path}`),
      other: await read(attribute, '?attributes=id'),
    }));
    const published = tableByPath(type.attributes, ({ definition }) => ({
      plain: definition.returned !== 'never',
      asked: definition.returned !== 'never',
      excluded: definition.returned === 'always',
      other: definition.returned === 'always',
    }));
    expect(observed).toEqual(published);
  });

  test('caseExact: a filter finds a value in another case only if caseExact is false', async () => {
    const resource = await createComplete();
    const texts = type.attributes.filter(({ definition }) => isText(definition));
    const observed = await observeEach(texts, async (attribute) => {
      const value = readValue(attribute, resource);
      const exact = await count(`${attribute.path} eq ${JSON.stringify(value ?? 'x')}`);
      const swapped = await count(`${attribute.path} eq ${JSON.stringify(swapCase(String(value)))}`);
      return [exact, swapped];
    });
    const published = tableByPath(texts, ({ definition }) => {
      if (definition.returned === 'never') return ['invalidFilter', 'invalidFilter'];
      return [1, definition.caseExact ? 0 : 1];
    });
    expect(observed).toEqual(published);
  });

  test('uniqueness: a value of a server attribute is 409 the second time, one of a none attribute may occur twice', async () => {
    const first = fullBody(type, 'one');
    expect((await post(first)).status).toBe(201);
    expect((await post({ ...first, ...resourceWithValue(uniqueAttribute, 'another name') })).status).toBe(
      201,
    );
    const unique = type.attributes.filter(({ definition }) => definition.uniqueness !== 'none');
    expect(unique).toEqual([uniqueAttribute]);
    const clash = await post({
      ...fullBody(type, 'two'),
      ...resourceWithValue(uniqueAttribute, readValue(uniqueAttribute, first) as Json),
    });
    expect(clash).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  });

  test('required: a body without a required attribute is refused, but name and emails may be missing', async () => {
    const refused: string[] = [];
    for (const attribute of type.attributes.filter(({ parent, urn }) => !parent && urn === undefined)) {
      const { [attribute.definition.name]: _left, ...rest } = fullBody(type, attribute.path);
      const answer = await post(rest);
      if (answer.status !== 201) refused.push(attribute.path);
    }
    const required = type.attributes.filter(({ definition }) => definition.required).map(({ path }) => path);
    expect(required).toEqual(name === 'User' ? ['userName', 'name', 'emails'] : ['displayName']);
    expect(refused).toEqual(required.filter((path) => path !== 'name' && path !== 'emails'));
  });

  test('canonicalValues are suggestions: these and other values are kept as sent', async () => {
    const suggested = type.attributes.filter(({ definition }) => definition.canonicalValues);
    expect(suggested.length).toBeGreaterThan(0);
    for (const { definition, parent } of suggested.filter(
      (attribute) => isWritable(attribute.definition) && (!attribute.parent || isWritable(attribute.parent)),
    )) {
      for (const value of [...(definition.canonicalValues ?? []), 'something else']) {
        const element = { value: `for ${value}`, [definition.name]: value };
        const { body } = await postOnly({ [parent?.name ?? '']: [element] });
        expect(body[parent?.name ?? '']).toEqual([expect.objectContaining({ [definition.name]: value })]);
      }
    }
  });

  test('multiValued: of two values, one is left out unless multiValued is true, and a group is refused', async () => {
    const writable = type.attributes.filter(
      (attribute) => isWritable(attribute.definition) && (!attribute.parent || isWritable(attribute.parent)),
    );
    const tried = writable.filter(({ path }) => path !== uniqueAttribute.path);
    const observed = await observeEach(tried, async (attribute) => {
      const single = { ...attribute.definition, multiValued: false };
      const { status, body } = await postOnly(
        resourceWithValue(attribute, [sampleValue(single, 'a'), sampleValue(single, 'b')]),
      );
      if (status !== 201) return body.scimType;
      const value = readValue(attribute, body);
      return Array.isArray(value) ? value.length : isDeepStrictEqual(value, sampleValue(single, 'a'));
    });
    expect(observed).toEqual(
      tableByPath(tried, ({ definition }) =>
        definition.multiValued ? 2 : name === 'User' || 'invalidValue',
      ),
    );
  });
});

test('type: a value of another type is converted to it, or 400 invalidValue', async () => {
  const { attributes } = await readPublishedType(scim, 'User');
  const tried = attributes.filter(
    ({ definition, parent, path }) =>
      isWritable(definition) && (!parent || isWritable(parent)) && path !== 'userName',
  );
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

test('type: a member is text or an object whose value is text, numbers become text, and anything else is 400 invalidValue', async () => {
  const create = (member: Json) =>
    scim.send('POST', '/Groups', { displayName: JSON.stringify(member), members: [member] });
  for (const member of ['u', { value: 'u' }])
    expect((await create(member)).body.members).toMatchObject([{ value: 'u' }]);
  for (const member of [7, { value: 7 }])
    expect((await create(member)).body.members).toMatchObject([{ value: '7' }]);
  for (const member of [true, {}, { nope: 1 }, { value: true }, { value: '' }, [], ['u', 'v']])
    expect(await create(member)).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
});

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

/** A PATCH path of the first element of an attribute, selected by one of its texts: `emails[value eq "…"].display`. */
function pathOfFirstElement(attribute: PublishedAttribute, resource: JsonObject): string {
  const { path, parent, definition } = attribute;
  const keys = parent?.subAttributes?.filter(({ type }) => type === 'string') ?? [];
  const [key = definition] = [...keys.filter(({ name }) => name === 'value'), ...keys];
  const value = readValue({ ...attribute, definition: key }, resource) ?? '';
  const attributePath = path.slice(0, -definition.name.length - 1);
  return `${attributePath}[${key.name} eq ${JSON.stringify(value)}].${definition.name}`;
}

function swapCase(text: string): string {
  return [...text]
    .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}
