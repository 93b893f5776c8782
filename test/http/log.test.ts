import { newLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { linesTo } from '../support/http-house.ts';

function logged(fields: object): JsonObject | undefined {
  const lines: JsonObject[] = [];
  newLog('info', linesTo(lines)).info(fields, 'message');
  return lines[0];
}

test('secrets and personal data are struck out', () => {
  const fields = { password: 'p', user: { userName: 'ada', emails: [{ value: 'a@b' }], id: 'u1' } };
  expect(logged(fields)).toMatchObject({ password: '*', user: { userName: '*', emails: '*', id: 'u1' } });
});

test('errors keep their place, and lose addresses', () => {
  const line = logged({ err: new Error('no traveler ada@corp.example here') });
  expect(line).toMatchObject({ err: { type: 'Error', message: 'no traveler *@* here' } });
  expect(line?.['err']).toHaveProperty('stack', expect.stringContaining('log.test.ts'));
});

test('what is thrown and no error is told too', () => {
  expect(logged({ err: 'boom' })).toMatchObject({ err: 'boom' });
});

test('a lower level is not written', () => {
  const lines: JsonObject[] = [];
  newLog('warn', linesTo(lines)).info({}, 'message');
  expect(lines).toEqual([]);
});
