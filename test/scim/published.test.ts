import type { Json, JsonObject } from '../../src/schema/resource.ts';
import {
  type Definition,
  holding,
  type Published,
  type PublishedType,
  publishedType,
  sample,
  valueAt,
} from '../fixtures/published.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

/**
 * What /Schemas publishes of each attribute, held against what the service does. The walk is over the published text, so a
 * new attribute is tested from its first day.
 */
// Some hundred requests a test, on a machine that may be busy.
jest.setTimeout(120_000);

let scim: ScimService;
beforeEach(async () => {
  scim = await scimService();
});
afterEach(() => scim.close());

const isWritable = ({ mutability }: Definition) => mutability === 'readWrite' || mutability === 'immutable';
const isText = ({ type }: Definition) => ['string', 'reference', 'binary'].includes(type);

/** A value for every attribute that a client may write, as it will be shown. */
function sampleOf({ attributes, urn, extensions }: PublishedType, seed: string): JsonObject {
  const body: JsonObject = { schemas: [urn, ...extensions] };
  for (const { urn: extension, definition, parent } of attributes) {
    if (parent || !isWritable(definition)) continue;
    const subAttributes = definition.subAttributes?.filter(isWritable);
    const value = sample({ ...definition, ...(subAttributes ? { subAttributes } : {}) }, seed);
    if (extension === undefined) body[definition.name] = value;
    else body[extension] = { ...(body[extension] as JsonObject), [definition.name]: value };
  }
  return body;
}

/** The table of one characteristic, by path. */
function table(published: Published[], tell: (one: Published) => unknown): Record<string, unknown> {
  return Object.fromEntries(published.map((one) => [one.path, tell(one)]));
}

/** The same as it shows itself, each attribute on its own. */
async function observed(
  published: Published[],
  look: (one: Published) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  for (const one of published) entries.push([one.path, await look(one)]);
  return Object.fromEntries(entries);
}

describe.each(['User', 'Group'] as const)('what is published of %s', (name) => {
  let type: PublishedType;
  let named: Published;
  let names: number;
  /** Members as they are shown: what is said of them follows from the users that they name. */
  let members: Record<string, JsonObject>;
  beforeEach(async () => {
    type = await publishedType(scim, name);
    members = name === 'Group' ? { one: await member('one'), two: await member('two') } : {};
    [named] = type.attributes.filter(({ definition }) => definition.uniqueness === 'server') as [Published];
    names = 0;
  });

  const member = async (seed: string): Promise<JsonObject> => {
    const { body } = await scim.send('POST', '/Users', { userName: seed });
    const display = `display-${seed}-Aa@corp.example`;
    return { value: body.id, type: 'User', display, $ref: body.meta.location };
  };
  const full = (of: PublishedType, seed: string): JsonObject => {
    const body = sampleOf(of, seed);
    return name === 'Group' ? { ...body, members: [members[seed] ?? { value: seed }] } : body;
  };
  const post = (body: JsonObject) => scim.send('POST', type.endpoint, body);
  /** With a name of its own, and nothing else but that. */
  const postOnly = (body: JsonObject) => {
    names += 1;
    return post({ ...body, ...holding(named, `name ${names}`) });
  };
  const count = async (filter: string) => {
    const { status, body } = await scim.send('GET', `${type.endpoint}?filter=${encodeURIComponent(filter)}`);
    return status === 200 ? body.totalResults : body.scimType;
  };
  /** One that has everything, a group and a traveler included. */
  const complete = async (): Promise<JsonObject> => {
    const { status, body } = await post(full(type, 'one'));
    expect({ status, body }).toMatchObject({ status: 201 });
    if (name === 'User')
      await scim.send('POST', '/Groups', { displayName: 'Crew-Aa', members: [{ value: body.id }] });
    await scim.service.people('default');
    return (await scim.send('GET', `${type.endpoint}/${body.id}`)).body;
  };

  test('is all that is answered', async () => {
    const resource = await complete();
    const common = ['schemas', 'id', 'externalId', 'meta', ...type.extensions];
    const places = type.attributes.map(({ path }) => path);
    const told = (container: JsonObject, prefix: string): string[] =>
      Object.entries(container).flatMap(([key, value]) => {
        if (prefix === '' && type.extensions.includes(key)) return told(value as JsonObject, `${key}:`);
        const path = `${prefix}${key}`;
        const [inner] = [value].flat();
        return typeof inner === 'object' && inner !== null && !common.includes(key)
          ? [path, ...told(inner as JsonObject, `${path}.`)]
          : [path];
      });
    expect(told(resource, '').filter((path) => !places.includes(path) && !common.includes(path))).toEqual([]);
    // And all that is published is there, but for what is never returned.
    const absent = type.attributes.filter((one) => valueAt(one, resource) === undefined);
    expect(absent.map(({ path }) => path)).toEqual(name === 'User' ? ['password'] : []);
  });

  test('mutability: what is readWrite and immutable is kept as sent, what is readOnly or writeOnly is not', async () => {
    const body = full(type, 'one');
    const created = await post(body);
    expect(created.body).toMatchObject(body);
    const path = `${type.endpoint}/${created.body.id}`;
    const other = full(type, 'two');
    expect((await scim.send('PUT', path, other)).body).toMatchObject(other);
    const rest = type.attributes.filter(
      ({ definition, parent }) => !isWritable(definition) && (!parent || isWritable(parent)),
    );
    // Of a group everything may be sent; what is said of a member follows from its id all the same.
    expect(rest.length > 0).toBe(name === 'User');
    for (const one of rest) {
      const value = sample(one.definition, 'mine');
      for (const answer of [
        await postOnly(holding(one, value)),
        await scim.send('PUT', path, { ...other, ...holding(one, value) }),
      ]) {
        const isRefused = answer.status === 400;
        if (!isRefused)
          expect([one.path, JSON.stringify(answer.body).includes('mine')]).toEqual([one.path, false]);
      }
    }
  });

  test('mutability in PATCH: readWrite changes, immutable is 400 mutability, readOnly and writeOnly are passed over', async () => {
    let before = await complete();
    const path = `${type.endpoint}/${String(before['id'])}`;
    const seen = await observed(type.attributes, async (one) => {
      const { definition, parent } = one;
      const at = parent?.multiValued ? chosenPath(one, before) : one.path;
      const subAttributes = definition.subAttributes?.filter(isWritable) ?? [];
      const value = sample({ ...definition, subAttributes }, `new ${one.path}`);
      const { status, body } = await scim.send('PATCH', path, patchOp({ op: 'replace', path: at, value }));
      if (status >= 400) return body.scimType;
      const after = (await scim.send('GET', path)).body;
      const isChanged = JSON.stringify(valueAt(one, after)) !== JSON.stringify(valueAt(one, before));
      before = after;
      return isChanged ? 'changed' : 'kept';
    });
    const expected: Record<string, string> = {
      readWrite: 'changed',
      immutable: 'mutability',
      readOnly: 'kept',
      writeOnly: 'kept',
    };
    const same = ({ definition }: Published) =>
      definition.type === 'boolean' || definition.canonicalValues !== undefined;
    const published = table(type.attributes, (one) => {
      if (one.parent && !isWritable(one.parent)) return 'kept';
      // Of these the sample is always the same.
      if (same(one) && one.definition.mutability === 'readWrite') return 'kept';
      // Not even the read-only part of a member can be named.
      return one.parent?.name === 'members' ? 'mutability' : expected[one.definition.mutability];
    });
    expect(seen).toEqual(published);
  });

  test('returned: default is there unless excluded, never is never there', async () => {
    const { id } = await complete();
    const read = async (one: Published, query: string) => {
      const { body } = await scim.send('GET', `${type.endpoint}/${String(id)}${query}`);
      return valueAt(one, body) !== undefined;
    };
    const seen = await observed(type.attributes, async (one) => ({
      plain: await read(one, ''),
      asked: await read(one, `?attributes=${one.path}`),
      excluded: await read(one, `?excludedAttributes=${one.path}`),
      other: await read(one, '?attributes=id'),
    }));
    const published = table(type.attributes, ({ definition }) => ({
      plain: definition.returned !== 'never',
      asked: definition.returned !== 'never',
      excluded: definition.returned === 'always',
      other: definition.returned === 'always',
    }));
    expect(seen).toEqual(published);
  });

  test('caseExact: whether a filter finds a value in another case', async () => {
    const resource = await complete();
    const texts = type.attributes.filter(({ definition }) => isText(definition));
    const seen = await observed(texts, async (one) => {
      const value = valueAt(one, resource);
      const exact = await count(`${one.path} eq ${JSON.stringify(value ?? 'x')}`);
      const swapped = await count(`${one.path} eq ${JSON.stringify(swapCase(String(value)))}`);
      return [exact, swapped];
    });
    const published = table(texts, ({ definition }) => {
      if (definition.returned === 'never') return ['invalidFilter', 'invalidFilter'];
      return [1, definition.caseExact ? 0 : 1];
    });
    expect(seen).toEqual(published);
  });

  test('uniqueness: what is server is 409 the second time, what is none may be shared', async () => {
    const one = full(type, 'one');
    expect((await post(one)).status).toBe(201);
    expect((await post({ ...one, ...holding(named, 'another name') })).status).toBe(201);
    const unique = type.attributes.filter(({ definition }) => definition.uniqueness !== 'none');
    expect(unique).toEqual([named]);
    const clash = await post({ ...full(type, 'two'), ...holding(named, valueAt(named, one) as Json) });
    expect(clash).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  });

  test('required: what must be sent (a deviation: name and emails may be missing)', async () => {
    const refused: string[] = [];
    for (const one of type.attributes.filter(({ parent, urn }) => !parent && urn === undefined)) {
      const { [one.definition.name]: _left, ...rest } = full(type, one.path);
      const answer = await post(rest);
      if (answer.status !== 201) refused.push(one.path);
    }
    const required = type.attributes.filter(({ definition }) => definition.required).map(({ path }) => path);
    expect(required).toEqual(name === 'User' ? ['userName', 'name', 'emails'] : ['displayName']);
    expect(refused).toEqual(required.filter((path) => path !== 'name' && path !== 'emails'));
  });

  test('canonicalValues are suggestions: they and any other are kept as sent', async () => {
    const suggested = type.attributes.filter(({ definition }) => definition.canonicalValues);
    expect(suggested.length).toBeGreaterThan(0);
    for (const { definition, parent } of suggested.filter(
      (one) => isWritable(one.definition) && (!one.parent || isWritable(one.parent)),
    )) {
      for (const value of [...(definition.canonicalValues ?? []), 'something else']) {
        const element = { value: `for ${value}`, [definition.name]: value };
        const { body } = await postOnly({ [parent?.name ?? '']: [element] });
        expect(body[parent?.name ?? '']).toEqual([expect.objectContaining({ [definition.name]: value })]);
      }
    }
  });

  test('multiValued: whether there may be two', async () => {
    const writable = type.attributes.filter(
      (one) => isWritable(one.definition) && (!one.parent || isWritable(one.parent)),
    );
    const tried = writable.filter(({ path }) => path !== named.path);
    const seen = await observed(tried, async (one) => {
      const single = { ...one.definition, multiValued: false };
      const { status, body } = await postOnly(holding(one, [sample(single, 'a'), sample(single, 'b')]));
      return status === 201 ? (valueAt(one, body) as Json[]).length : body.scimType;
    });
    expect(seen).toEqual(table(tried, ({ definition }) => (definition.multiValued ? 2 : 'invalidValue')));
  });
});

test('type: a value of another type is converted to it, or 400 invalidValue', async () => {
  const { attributes } = await publishedType(scim, 'User');
  const tried = attributes.filter(
    ({ definition, parent, path }) =>
      isWritable(definition) && (!parent || isWritable(parent)) && path !== 'userName',
  );
  const others: Json[] = ['some text', 7, true, 'False', { nope: 1 }];
  let names = 0;
  const seen = await observed(tried, async (one) => {
    const told = [];
    for (const value of others) {
      names += 1;
      const { status, body } = await scim.send('POST', '/Users', {
        ...holding(one, value),
        userName: `u${names}`,
      });
      told.push(status === 201 ? (valueAt(one, body) ?? 'nothing') : body.scimType);
    }
    return told;
  });
  expect(seen).toEqual(table(tried, ({ definition }) => others.map((value) => converted(definition, value))));
});

test('type: a member is text, or an object with a value that is text, and numbers are texts; anything else is 400 invalidValue', async () => {
  const create = (member: Json) =>
    scim.send('POST', '/Groups', { displayName: JSON.stringify(member), members: [member] });
  for (const member of ['u', { value: 'u' }])
    expect((await create(member)).body.members).toMatchObject([{ value: 'u' }]);
  for (const member of [7, { value: 7 }])
    expect((await create(member)).body.members).toMatchObject([{ value: '7' }]);
  for (const member of [true, {}, { nope: 1 }, { value: true }, { value: '' }, [], ['u', 'v']])
    expect(await create(member)).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
});

/** What becomes of a value that may be of the wrong type. */
function converted(definition: Definition, value: Json): Json {
  const { type, multiValued, subAttributes } = definition;
  if (multiValued) {
    const element = converted({ ...definition, multiValued: false }, value);
    return typeof element === 'string' ? element : [element];
  }
  if (type === 'complex') {
    if (typeof value === 'object') return 'nothing';
    const part = subAttributes?.find(({ name }) => name === 'value');
    if (!part) return 'invalidValue';
    const text = converted(part, value);
    return text === 'invalidValue' ? text : { value: text };
  }
  if (type === 'boolean') return value === true ? true : value === 'False' ? false : 'invalidValue';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'invalidValue';
}

/** `emails[value eq "…"].display`: of many values the first, by a text that it has. */
function chosenPath(one: Published, resource: JsonObject): string {
  const { path, parent, definition } = one;
  const keys = parent?.subAttributes?.filter(({ type }) => type === 'string') ?? [];
  const [key = definition] = [...keys.filter(({ name }) => name === 'value'), ...keys];
  const value = valueAt({ ...one, definition: key }, resource) ?? '';
  const attribute = path.slice(0, -definition.name.length - 1);
  return `${attribute}[${key.name} eq ${JSON.stringify(value)}].${definition.name}`;
}

function swapCase(text: string): string {
  return [...text]
    .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}
