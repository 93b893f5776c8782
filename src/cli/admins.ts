import { randomUUID } from 'node:crypto';
import { hashPassword, newPassword } from '../admin/passwords.ts';
import type { Role } from '../operations/operation.ts';
import type { AdminAccount } from '../store/credentials/admins.ts';
import { adminAccounts } from '../store/credentials/admins.ts';
import type { Database } from '../store/sql/database.ts';
import { choiceOption } from './arguments.ts';
import { withAuditEntry } from './audit.ts';
import type { CliCommand, JsonFlag } from './command.ts';
import { withDatabase } from './database.ts';
import { Refused } from './exit-code.ts';
import { escapeLine, formatMinute, printJson, printTable, type Shell, withIsoTimes } from './output.ts';

const roles = ['viewer', 'admin'] satisfies Role[];

/** Adds the commands `admins create|list|reset|revoke`: the accounts of the admin page. They work while a server runs. */
export function addAdminCommands(program: CliCommand): void {
  const admins = program.command('admins').description('the accounts of the admin page');
  admins
    .command('create')
    .description('create an account and print its password once')
    .argument('<name>', 'the name or email address with which the person signs in')
    .addOption(choiceOption('--role <role>', 'a viewer only reads', roles).default('viewer'))
    .option('--json', 'one JSON object')
    .examples('admins create ada@corp.example', 'admins create ada@corp.example --role admin')
    .runs((shell, name: string, { role, ...flags }: JsonFlag & { role: Role }) =>
      createAdmin(shell, name, role, flags),
    );
  admins
    .command('list')
    .description('list the accounts')
    .option('--json', 'one JSON object for each account')
    .examples('admins list')
    .runs(listAdmins);
  admins
    .command('reset')
    .description('give an account a new password and print it, if one is lost; its sessions end')
    .argument('<name>', 'the name of the account')
    .option('--json', 'one JSON object')
    .examples('admins reset admin')
    .runs(resetAdmin);
  admins
    .command('revoke')
    .description('revoke an account at once; its sessions end')
    .argument('<name>', 'the name of the account')
    .option('--json', 'one JSON object')
    .examples('admins revoke ada@corp.example')
    .runs(revokeAdmin);
}

/** Creates an account and prints its password. The audit log names this program as the one who did it. */
export function createAdmin(shell: Shell, name: string, role: Role, flags: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const password = newPassword();
    const account = { id: randomUUID(), name, role, createdAt: Date.now() };
    const passwordHash = await hashPassword(password);
    const create = () => adminAccounts(database).create({ ...account, passwordHash });
    if (!(await withAuditEntry(database, { action: 'createAccount', details: { name, role } }, create)))
      throw new Refused(`There is already an account named ${escapeLine(name)}.`);
    printPassword(shell, { ...flags, name, password });
  });
}

/** Lists the accounts, revoked ones too. */
export function listAdmins(shell: Shell, { json }: JsonFlag): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const accounts = await adminAccounts(database).list();
    if (json) printJson(shell, ...accounts.map(toJson));
    else
      printTable(
        shell,
        ['name', 'role', 'signs in with', 'made', 'last sign-in', 'revoked'],
        accounts.map(toRow),
      );
  });
}

function toJson(account: AdminAccount): object {
  return withIsoTimes(account, 'createdAt', 'lastSignInAt', 'revokedAt');
}

function toRow({ name, role, issuer, createdAt, lastSignInAt, revokedAt }: AdminAccount): string[] {
  const moment = (time: number | undefined, none: string) => (time === undefined ? none : formatMinute(time));
  return [
    name,
    role,
    issuer ?? 'password',
    formatMinute(createdAt),
    moment(lastSignInAt, 'never'),
    moment(revokedAt, ''),
  ];
}

/** Gives an account a new password, prints it, and ends its sessions: the way back in when the password is lost. */
export function resetAdmin(shell: Shell, name: string, flags: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const { id, hasPassword } = await findAccount(database, name);
    if (!hasPassword)
      throw new Refused(`${escapeLine(name)} signs in through the OpenID provider and has no password here.`);
    const password = newPassword();
    const passwordHash = await hashPassword(password);
    const reset = () => adminAccounts(database).setPassword(id, passwordHash);
    await withAuditEntry(database, { action: 'resetPassword', details: { id, name } }, reset);
    printPassword(shell, { ...flags, name, password });
  });
}

/** Revokes an account and ends its sessions. The last admin may be revoked here: "admins create" makes another. */
export function revokeAdmin(shell: Shell, name: string, { json }: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const { id } = await findAccount(database, name);
    const revoke = async () =>
      (await adminAccounts(database).revoke(id, Date.now(), { evenOnlyAdmin: true })) === 'done';
    await withAuditEntry(database, { action: 'revokeAccount', details: { id, name } }, revoke);
    if (json) printJson(shell, { name, revoked: true });
    else shell.print('revoked');
  });
}

async function findAccount(database: Database, name: string): Promise<AdminAccount> {
  const account = await adminAccounts(database).findByName(name);
  if (account) return account;
  throw new Refused(
    `There is no account named ${escapeLine(name)}. "npx jetbridge admins list" shows all of them.`,
  );
}

function printPassword(
  shell: Shell,
  { json, name, password }: JsonFlag & { name: string; password: string },
): void {
  if (json) printJson(shell, { name, password });
  else shell.print(password);
  shell.printError('Keep it: it is shown only now.');
}
