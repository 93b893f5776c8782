import { auditLog } from '../../src/store/audit-log.ts';
import { plansOf } from '../fixtures/query-plans.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-admin-plans-');

test('the choices of the audit log are found by one search of an index each', async () => {
  const plans = await plansOf(await databases.open(), (database) => auditLog(database).listChoices());
  const reads = plans.filter((plan) => plan.includes('audit_entry'));
  expect(reads).toEqual([
    expect.stringMatching(/^SEARCH audit_entry USING INDEX audit_entry_actor$/),
    expect.stringMatching(/^SEARCH audit_entry USING INDEX audit_entry_actor \(actor>\?\)$/),
    expect.stringMatching(/^SEARCH audit_entry USING COVERING INDEX audit_entry_action$/),
    expect.stringMatching(/^SEARCH audit_entry USING COVERING INDEX audit_entry_action \(action>\?\)$/),
  ]);
});
