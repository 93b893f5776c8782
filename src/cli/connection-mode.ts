import { type ConnectionMode, connectionModeNames } from '../provisioning/policies.ts';
import { withAuditEntry } from './audit.ts';
import { databaseTime, findConnections, withDatabase } from './database.ts';
import { Refused, WrongUse } from './exit-code.ts';
import { type ChangeFlags, unconfirmed } from './holds/paused-connections.ts';
import { confirm, escapeLine, printJson, type Shell } from './output.ts';

/** The effect of each mode, for the confirmation. */
const consequences: Record<ConnectionMode, string> = {
  live: 'What the identity provider states is carried out, also what was planned until now; the safety valve applies. The travelers of these people are read again first.',
  shadow:
    'Nothing is sent to the travel API any more, departures included. Everything is planned: npx jetbridge shadow report.',
  paused:
    'Only people whom the identity provider writes from now on are provisioned, departures included. The changes of all others wait.',
};

/** Puts a connection into another mode, after the admin has confirmed what that does. A running server follows within a second. */
export function changeMode(
  shell: Shell,
  { name, mode, yes, json }: ChangeFlags & { name: string; mode: string },
): Promise<0 | 1> {
  const to = connectionModeNames.find((one) => one === mode);
  if (!to) throw new WrongUse(`the mode must be one of ${connectionModeNames.join(', ')}`);
  return withDatabase(shell, async ({ database, store: { modes } }) => {
    findConnections(database, name);
    const current = (await modes.list()).find(({ connection }) => connection === name)?.mode;
    if (current === to) throw new Refused(`The connection ${escapeLine(name)} is in the mode ${to} already.`);
    shell.printError(consequences[to]);
    if (current === 'shadow' && to === 'live')
      shell.printError(
        `To approve the plan that a report shows instead: npx jetbridge shadow go-live --connection ${name}`,
      );
    await confirm(shell, `Put ${name} into the mode ${to}?`, { yes, ...unconfirmed });
    const now = await databaseTime(database);
    const entry = { action: 'changeConnectionMode', details: { connection: name, mode: to } };
    await withAuditEntry(database, entry, () => modes.change(name, { to, now }));
    if (json) printJson(shell, { connection: name, mode: to });
    else
      shell.print(
        `${name} is ${to === 'shadow' ? 'in shadow mode' : to}; running servers follow within two seconds`,
      );
  });
}
