import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { JoinedReads } from '../../src/store/postgres-reads.ts';
import { compiledQuery } from '../../src/store/queries.ts';
import type { Tables } from '../../src/store/tables.ts';
import { StoreUnavailable } from '../../src/store/unavailable.ts';

const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (created) => new PostgresIntrospector(created),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const selectConnection = compiledQuery((of, { id }: { id: string }) =>
  of.selectFrom('connection').select('id').where('id', '=', id),
);
const deleteConnection = compiledQuery((of, { id }: { id: string }) =>
  of.deleteFrom('connection').where('id', '=', id),
);

const select = (id: string) => selectConnection.compile(db, { id });

/** Joined reads that find the id they search for, and the messages that they send. A message with a faulty id fails. */
function fixture(faulty?: { id: string; error: Error }) {
  const messages: unknown[][] = [];
  const reads = new JoinedReads(async (queries: CompiledQuery[]) => {
    const ids = queries.map(({ parameters }) => parameters[0]);
    messages.push(ids);
    if (faulty && ids.includes(faulty.id)) throw faulty.error;
    return ids.map((id) => ({ rows: [{ id }] }));
  });
  const resultsOf = (...ids: string[]) => Promise.allSettled(ids.map((id) => reads.join(select(id))));
  return { messages, reads, resultsOf };
}

const found = (id: string) => ({ status: 'fulfilled', value: { rows: [{ id }] } });

test('reads of one turn of the event loop are one message, and each gets its own result', async () => {
  const { messages, resultsOf } = fixture();
  expect(await resultsOf('a', 'b')).toEqual([found('a'), found('b')]);
  expect(await resultsOf('c')).toEqual([found('c')]);
  expect(messages).toEqual([['a', 'b'], ['c']]);
});

test('if a read fails, each is sent alone, and the others succeed', async () => {
  const error = new Error('invalid');
  const { messages, resultsOf } = fixture({ id: 'b', error });
  expect(await resultsOf('a', 'b', 'c')).toEqual([
    found('a'),
    { status: 'rejected', reason: error },
    found('c'),
  ]);
  expect(messages).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
});

test('if the database is unavailable, all reads fail and none is sent again', async () => {
  const error = new StoreUnavailable('the database is down', { cause: new Error('reset') });
  const { messages, resultsOf } = fixture({ id: 'a', error });
  const failed = { status: 'rejected', reason: error };
  expect(await resultsOf('a', 'b')).toEqual([failed, failed]);
  expect(messages).toEqual([['a', 'b']]);
});

test('a statement that writes, or that is not compiled once, does not join', () => {
  const { reads } = fixture();
  expect(reads.join(deleteConnection.compile(db, { id: 'a' }))).toBeUndefined();
  expect(reads.join(db.selectFrom('connection').select('id').compile())).toBeUndefined();
});
