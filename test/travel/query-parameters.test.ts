import { type ListFeatures, listParameters } from '../../src/travel/declaration/list-parameters.ts';
import { type Fixture, type Method, openFixture } from '../fixtures/travel.ts';
import { type Operation, operations } from './contract.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

/** A path of the operation with ids that do not exist. */
const pathOf = ({ path }: Operation) => path.replace(/^\/api/, '').replace(/\{\w+\}/g, 'nobody');
const namesOf = ({ parameters }: Operation) =>
  parameters.filter((one) => one['in'] === 'query').map(({ name }) => String(name));

test.each(operations.map((operation) => [operation.id, operation] as const))(
  '%s refuses an unknown query parameter and lists the known ones',
  async (_id, operation) => {
    const body = operation.hasBody ? { data: {} } : undefined;
    const answer = await fixture.send(operation.method as Method, `${pathOf(operation)}?limt=5`, body);
    const known = namesOf(operation);
    const words = known.length > 0 ? `known here: ${known.join(', ')}` : 'there are none here';
    const message = `"limt" is not a query parameter (${words}).`;
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        code: 'invalidParam',
        message: 'A query parameter is not valid.',
        invalid: [{ field: 'limt', value: 5, code: 'paramValue', message }],
      },
    ]);
  },
);

test('a request with an unknown query parameter changes nothing', async () => {
  const { id } = await fixture.make('/cost-centers', { name: 'Research' });
  const before = await fixture.dump();
  const data = { name: 'Laboratory' };
  for (const answer of [
    await fixture.send('post', '/cost-centers?dryRun=1', { data }),
    await fixture.send('patch', `/cost-centers/${id}?force`, { data }),
    await fixture.send('put', `/cost-centers/${id}?force=`, { data }),
    await fixture.send('delete', `/cost-centers/${id}?cascade=true`),
  ])
    expect(answer.status).toBe(400);
  expect(await fixture.dump()).toBe(before);
});

test('a parameter that another list has is unknown to this one', async () => {
  const faults = async (path: string) => (await fixture.send('get', path)).body.invalid;
  expect(await faults('/cost-centers?emails=a@example.com')).toMatchObject([{ field: 'emails' }]);
  expect(await faults('/users?status=failed&after=x')).toMatchObject([
    { field: 'status' },
    { field: 'after' },
  ]);
  expect(await faults('/custom-fields?sortBy=createdAt')).toMatchObject([{ field: 'sortBy' }]);
  expect(await faults(`/users/${fixture.admin}?limit=1`)).toMatchObject([{ field: 'limit' }]);
});

test('the message of a refused value says which values the parameter may have', async () => {
  const messages = async (path: string) => {
    const { invalid } = (await fixture.send('get', path)).body;
    return invalid.map(({ message }: { message: string }) => message);
  };
  const paths = '/users?limit=1000&offset=-1&order=up&sortBy=name&archived=1&pageKind=none';
  expect((await messages(paths)).toSorted()).toEqual([
    'The value of "archived" is not allowed here: give true or false.',
    'The value of "limit" is not allowed here: give a whole number from 1 to 100.',
    'The value of "offset" is not allowed here: give a whole number from 0 to 2147483647.',
    'The value of "order" is not allowed here: give asc or desc.',
    'The value of "pageKind" is not allowed here: give offset.',
    expect.stringMatching(/^The value of "sortBy" is not allowed here: give one of createdAt, .*email/),
  ]);
  expect(await messages('/events?pageKind=cursor&after=x')).toEqual([
    'The value of "after" is not allowed here: give a cursor of this list, in the same order.',
  ]);
});

test('an unknown path is reported as the client wrote it', async () => {
  const answer = await fixture.send('get', '/nosuch');
  expect(answer.body.message).toBe('There is nothing at /api/nosuch. /api/docs describes every path.');
});

test('parameters given many times, or many of them, are refused with at most a hundred faults', async () => {
  const repeated = await fixture.send('get', `/users?${'limit=1&'.repeat(1500)}`);
  expect([repeated.status, repeated.body.invalid]).toMatchObject([400, [{ field: 'limit' }]]);
  const many = Array.from({ length: 1500 }, (_none, number) => `x${number}`).join('&');
  const answer = await fixture.send('get', `/users?${many}`);
  expect([answer.status, answer.body.invalid.length]).toEqual([400, 100]);
  const long = await fixture.send('get', `/users?${'x'.repeat(5000)}=1`);
  expect([long.status, long.body.invalid[0].field.length]).toEqual([400, 200]);
});

test('every documented parameter is accepted in combination with any others', () => {
  const listParameterNames = (features: ListFeatures) => Object.keys(listParameters(features).shape);
  expect(listParameterNames({ cursor: true, sortBy: ['date'], filters: ['archived', 'emails'] })).toEqual([
    ...['pageKind', 'limit', 'offset', 'after', 'before', 'order', 'sortBy', 'archived', 'emails'],
  ]);
  expect(listParameterNames({ cursor: false, sortBy: [], filters: [] })).toEqual([
    ...['pageKind', 'limit', 'offset', 'order'],
  ]);
});
