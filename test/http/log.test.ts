import { createLog } from '../../src/http/log.ts';
import { StoreUnavailable } from '../../src/model/unavailable.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { parseLinesInto } from '../fixtures/http.ts';

function logged(fields: object): JsonObject | undefined {
  const lines: JsonObject[] = [];
  createLog('info', parseLinesInto(lines)).info(fields, 'message');
  return lines[0];
}

test('secrets and personal data are redacted', () => {
  const fields = { password: 'p', user: { userName: 'ada', emails: [{ value: 'a@b' }], id: 'u1' } };
  expect(logged(fields)).toMatchObject({ password: '*', user: { userName: '*', emails: '*', id: 'u1' } });
});

test('secrets and personal data are redacted in every line of a request', () => {
  const lines: JsonObject[] = [];
  createLog('info', parseLinesInto(lines))
    .child({ requestId: 'r1', token: 't' })
    .info({ a: { key: 'k' } }, 'message');
  expect(lines).toMatchObject([{ requestId: 'r1', token: '*', a: { key: '*' } }]);
});

test('values that are not redacted stay as they are', () => {
  const time = new Date(0);
  const fields = {
    count: 1,
    none: null,
    list: ['name', { id: 1 }],
    time,
    cause: new Error('x'),
    a: { id: 'u1' },
  };
  expect(logged({ ...fields, unknown: undefined })).toMatchObject({
    ...fields,
    time: time.toJSON(),
    cause: {},
  });
  expect(fields.a).toEqual({ id: 'u1' });
});

test('redacting a line does not change the logged object', () => {
  const user = { name: 'Ada', id: 'u1' };
  expect(logged({ user })).toMatchObject({ user: { name: '*', id: 'u1' } });
  expect(user).toEqual({ name: 'Ada', id: 'u1' });
});

test('the members of an error are not logged', () => {
  const err = Object.assign(new Error('x'), { name: 'Named', config: { token: 't' } });
  expect(logged({ err })).toMatchObject({ err: { message: 'x' } });
  expect(JSON.stringify(logged({ err }))).not.toContain('token');
});

test('logged errors keep type and stack, without email addresses', () => {
  const line = logged({ err: new Error('no traveler ada@corp.example here') });
  expect(line).toMatchObject({ err: { type: 'Error', message: 'no traveler *@* here' } });
  expect(line?.['err']).toHaveProperty('stack', expect.stringContaining('log.test.ts'));
});

test('thrown values that are no errors are logged too', () => {
  expect(logged({ err: 'boom' })).toMatchObject({ err: 'boom' });
});

test('lines below the level are not written', () => {
  const lines: JsonObject[] = [];
  createLog('warn', parseLinesInto(lines)).info({}, 'message');
  expect(lines).toEqual([]);
});

test('errors of an unavailable store have the level debug, because the store logs them itself', () => {
  const err = new StoreUnavailable('the disk is full', { cause: new Error('database or disk is full') });
  const levels = (level: string) => {
    const lines: JsonObject[] = [];
    const log = createLog(level, parseLinesInto(lines));
    log.error({ err }, 'message');
    log.child({ requestId: 'r1' }).warn({ err }, 'message');
    log.error({ err: new Error('another') }, 'message');
    return lines.map((line) => line['level']);
  };
  expect(levels('info')).toEqual([50]);
  expect(levels('debug')).toEqual([20, 20, 50]);
});
