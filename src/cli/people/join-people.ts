import { type Identity, isInactive } from '../../provisioning/identity.ts';
import { findPeople } from '../../provisioning/people/explain-person.ts';
import { findPredecessor, joinPeople } from '../../provisioning/people/join-people.ts';
import { timeOrderedId } from '../../server/ids.ts';
import type { CliCommand } from '../command.ts';
import { databaseTime, withDatabase } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { confirm, escapeLine, printJson, type Shell } from '../output.ts';

interface JoinFlags {
  yes?: true;
  json?: true;
}

/** Adds the command `people join`. */
export function addJoinCommand(people: CliCommand): void {
  people
    .command('join')
    .description(
      'give a user the traveler of a leaver, or one whom no identity provider has sent, because both are one person; a running server does the rest',
    )
    .argument('<leaver>', 'the inactive or deleted user: SCIM id, userName, email address or travel user id')
    .argument('<newcomer>', 'the active user of the same travel account, named in the same way')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .examples('people join 2f1c… 9be0…')
    .runs((shell, leaver: string, newcomer: string, flags: JoinFlags) =>
      joinPeopleNamed(shell, { leaver, newcomer, ...flags }),
    );
}

/** Joins two people after the admin has confirmed it. Works while a server runs, which does the rest. */
export function joinPeopleNamed(
  shell: Shell,
  { yes, json, ...names }: JoinFlags & { leaver: string; newcomer: string },
): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, store }) => {
    const find = (name: string, isMeant: (identity: Identity) => boolean) =>
      findOne(name, isMeant, findPeople(store, database.scopes.ids(), name));
    const newcomer = await find(names.newcomer, (identity) => identity.claimed && !isInactive(identity));
    const known = await findPredecessor(store, newcomer);
    const isKnown = known !== undefined && !('id' in known) && known.travelId === names.leaver;
    const isMeant = (identity: Identity) => isInactive(identity) || !identity.claimed;
    const leaver = isKnown ? known : await find(names.leaver, isMeant);
    if (
      'id' in leaver &&
      database.scopeOf(leaver.connection).account !== database.scopeOf(newcomer.connection).account
    )
      throw new Refused('The two people belong to different travel accounts.');
    const text = `${nameOf(newcomer)} gets ${'id' in leaver ? `the traveler of ${nameOf(leaver)}` : `the archived traveler ${escapeLine(leaver.travelId)}`}${newcomer.travelId === undefined ? '' : '; the own traveler is archived'}`;
    await confirm(shell, `${text}. Go on?`, { yes, declined: 'Nothing was changed.' });
    const time = await databaseTime(database);
    const runtime = { now: () => time, wallClock: () => time, newId: timeOrderedId };
    const result = await joinPeople({ identities: store.identities, runtime }, { leaver, newcomer });
    if (result !== 'joined')
      throw new Refused(result === 'stale' ? 'One of the two has just changed; try again.' : result.refused);
    const { connection, id } = newcomer;
    const { travelId } = leaver;
    if (json) printJson(shell, { joined: { connection, id, travelId } });
    else shell.print(`joined: ${text}`);
  });
}

/** Finds the only person with a name who can be meant. Throws if there is none, or several. */
async function findOne(
  name: string,
  isMeant: (identity: Identity) => boolean,
  found: Promise<Identity[]>,
): Promise<Identity> {
  const all = await found;
  const meant = all.filter(isMeant);
  const [only, ...others] = meant.length > 0 ? meant : all;
  if (only && others.length === 0) return only;
  const people = [only, ...others].flatMap((one) => (one ? [`${one.id} (${nameOf(one)})`] : []));
  throw new Refused(
    only
      ? `${escapeLine(name)} names several people; give the SCIM id of one: ${people.join(', ')}.`
      : `There is no person ${escapeLine(name)}.`,
  );
}

function nameOf({ desired, deletedAt }: Identity): string {
  return `${escapeLine(String(desired.userName))}${deletedAt === undefined ? '' : ' (deleted)'}`;
}
