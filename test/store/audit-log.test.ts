import { auditLog } from '../../src/store/credentials/audit-log.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-audit-');

const entry = {
  at: 0,
  actorKind: 'account',
  address: '127.0.0.1',
  action: 'approveHolds',
  details: {},
} as const;

test('each actor and action is a choice once, apart from names that only failed sign-ins gave', async () => {
  const audit = auditLog(await databases.open());
  expect(await audit.listChoices()).toEqual({ actors: [], actions: [] });
  for (const actor of ['bob', 'Zoe', 'ada', 'bob', 'ada']) await audit.begin({ ...entry, actor });
  await audit.begin({ ...entry, actor: 'ada', action: 'applyMapping' });
  await audit.begin({ ...entry, actor: 'mallory', actorKind: 'nobody', action: 'signIn' });
  expect(await audit.listChoices()).toEqual({
    actors: ['Zoe', 'ada', 'bob'],
    actions: ['applyMapping', 'approveHolds', 'signIn'],
  });
});

test('a log of many actors has the first 500 as choices', async () => {
  const database = await databases.open();
  const names = Array.from({ length: 510 }, (_, at) => `admin ${1000 + at}`);
  const { actorKind: actor_kind, details: _, ...others } = entry;
  const rows = names.map((actor, position) => ({
    ...others,
    position,
    actor,
    actor_kind,
    details: '{}',
    status: null,
  }));
  await database.db.insertInto('audit_entry').values(rows).execute();
  expect((await auditLog(database).listChoices()).actors).toEqual(names.slice(0, 500));
});
