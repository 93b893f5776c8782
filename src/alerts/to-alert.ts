import type { SignInBurst } from '../admin/refused-sign-ins.ts';
import type { HoldAlert } from '../provisioning/holds/hold-alarms.ts';
import type { RestoreAlert } from '../provisioning/import/foreign-values.ts';
import type { Alert } from './alert.ts';

/** Returns the alert about held changes, a restored database or refused sign-ins. */
export function toAlert(event: HoldAlert | RestoreAlert | SignInBurst): Alert {
  if ('hold' in event) return holdAlert(event);
  if ('attempts' in event) return signInAlert(event);
  return restoreAlert(event);
}

function holdAlert({ type, at, hold: { connection, cause, count, since } }: HoldAlert): Alert {
  const isOver = type.endsWith('.cleared');
  const people = `${count} ${count === 1 ? 'person' : 'people'}`;
  const text = isOver
    ? `Connection ${connection}: the condition "${cause}" has ended.`
    : `Connection ${connection}: ${people} with the condition "${cause}".`;
  return {
    ...{ type, at, text, severity: isOver ? 'info' : 'warning' },
    data: { connection, cause, count, since: new Date(since).toISOString() },
    path: type.startsWith('hold.') ? '/held' : '/overview',
  };
}

function restoreAlert({ type, at, connection, people }: RestoreAlert): Alert {
  const text =
    type === 'restore.detected'
      ? `The database was restored from a backup. Connection ${connection} is paused.`
      : `Connection ${connection}: ${people} travelers have values that were never sent. The database may have been restored.`;
  return { type, at, severity: 'failing', text, data: { connection, people }, path: '/overview' };
}

function signInAlert({ type, at, attempts }: SignInBurst): Alert {
  const text = `${attempts} sign-ins to the admin page were refused within ten minutes.`;
  return { type, at, severity: 'warning', text, data: { attempts }, path: '/audit' };
}
