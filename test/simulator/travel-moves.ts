import type { TravelUser } from '../../src/model/traveler.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { caseFoldedKey } from '../../src/store/sql/search-keys.ts';
import { mergePatch } from '../fixtures/fake-travel.ts';
import { changeForEverybody, noteForeign } from './knowledge.ts';
import type { TravelMove } from './moves.ts';
import type { Person } from './people.ts';
import type { Player } from './play.ts';
import { type Catalog, editedValue, editOf, fields, fieldValue } from './travelers.ts';

/** True for moves that wait for the next rest: an edit at the same moment as a call of the bridge that replaces the same list may be lost. */
export function mustWaitForRest(move: TravelMove): boolean {
  if (move.kind === 'promote' || move.kind === 'costCenter') return true;
  return move.kind === 'edit' && /^(roles|address)\.|^(team|floor)$/.test(move.field);
}

/** An admin of the travel service changes something by hand. */
export async function moveTravel(player: Player, move: TravelMove): Promise<void> {
  if (move.kind === 'costCenter') return toggleCostCenter(player, move.name);
  const person = player.knowledge.people[move.who];
  if (!person) return;
  const { travel } = player.world;
  // A traveler that is made by hand while a create with its address has no answer may be the one that it has made.
  if (move.kind === 'stranger')
    return (await isCreateOpen(player, person.lastWanted))
      ? undefined
      : addStranger(player, person, move.archived);
  const traveler = travelerOf(player, person);
  if (!traveler) return;
  // Where the travel API does not tell the time, a name says whether a create without an answer has made the traveler.
  const isName = move.kind === 'edit' && move.field === 'firstName';
  if (isName && travel.fake.now === undefined && (await isCreateOpen(player, traveler))) return;
  if (move.kind === 'vanish') {
    travel.remove(traveler.id);
    player.world.story.tell(`  ${traveler.id} is deleted by hand`);
  } else if (move.kind === 'promote') togglePromotion(player, traveler);
  else editByHand(player, traveler, move.field);
}

/** True while a user is created with this address, and has no answer yet. */
async function isCreateOpen({ world }: Player, { email }: { email: string }): Promise<boolean> {
  const creating = world.database.db
    .selectFrom('identity')
    .select('id')
    .where('creating_key', '=', caseFoldedKey(email));
  return (await creating.executeTakeFirst()) !== undefined;
}

function editByHand(
  player: Player,
  traveler: TravelUser,
  field: Extract<TravelMove, { kind: 'edit' }>['field'],
): void {
  const { knowledge, world } = player;
  player.edits += 1;
  const value = editedValue(field, fieldValue(traveler, field, knowledge.catalog), player.edits);
  const change = editOf(traveler, field, value, knowledge.catalog);
  world.travel.edit(
    traveler.id,
    (before) => mergePatch(before as unknown as JsonObject, change) as unknown as TravelUser,
  ); // A traveler with another value.
  noteForeign(knowledge, traveler.id, field, value);
  world.story.tell(`  by hand: ${field} of ${traveler.id} becomes ${value}`);
}

/** Gives a traveler the role of an admin of the travel service, or takes it away. */
function togglePromotion({ world, knowledge }: Player, traveler: TravelUser): void {
  const others = (traveler.roles ?? []).filter((role) => role !== 'admin');
  const isAdmin = others.length < (traveler.roles ?? []).length;
  knowledge.guarded.add(traveler.id);
  world.travel.edit(traveler.id, (before) => ({ ...before, roles: isAdmin ? others : [...others, 'admin'] }));
  world.story.tell(`  by hand: ${traveler.id} ${isAdmin ? 'is an admin no more' : 'becomes an admin'}`);
}

/** Creates a traveler by hand with the address of a person who has no user. */
function addStranger(player: Player, person: Person, archived: boolean): void {
  const { knowledge, world } = player;
  if (person.current) return;
  player.edits += 1;
  const text = `Hand ${player.edits}`;
  const traveler = world.travel.add({
    ...{ firstName: text, lastName: 'Stranger', phoneNumber: '+33 142600000', gender: 'female', archived },
    ...{ email: person.lastWanted.email, roles: ['guest'], address: { region: text } },
    customFields: [{ customFieldId: knowledge.catalog.custom.floor, values: [{ data: text }] }],
  });
  if (traveler) noteAllForeign(player, traveler);
}

function noteAllForeign({ knowledge }: Player, traveler: TravelUser): void {
  for (const field of fields)
    noteForeign(knowledge, traveler.id, field, fieldValue(traveler, field, knowledge.catalog));
}

/** The traveler that the bridge has for the person, or had for the last human in the place. */
function travelerOf({ world, knowledge }: Player, { lastWanted }: Person): TravelUser | undefined {
  const own = [...world.travel.fake.travelers.values()].filter(
    ({ id }) => knowledge.owners.get(id) === lastWanted.familyName,
  );
  return own.find(({ archived }) => !archived) ?? own[0];
}

function toggleCostCenter(player: Player, name: string): void {
  const { knowledge } = player;
  const { costCenters, costCenterNames } = knowledge.catalog;
  player.edits += 1;
  const id = `cc-${player.edits}`;
  costCenterNames.set(id, name);
  changeForEverybody(knowledge, () => {
    if (!costCenters.delete(name)) costCenters.set(name, id);
  });
  publishLookups(player.world.travel, knowledge.catalog);
}

const DEPARTMENT = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';

/** Publishes the collections of the travel service, with the rules for two custom fields. */
export function publishLookups(travel: Player['world']['travel'], { custom, costCenters }: Catalog): void {
  travel.setLookups({
    customFields: Object.entries(custom).map(([name, id]) => ({
      ...{ id, name, dataType: 'text', disabled: false, options: [] },
    })),
    costCenters: [...costCenters].map(([name, id]) => ({ id, name, archived: false })),
    ...{ billingProfiles: [], travelPolicies: [] },
    scimUserMappings: [
      { scimAttribute: DEPARTMENT, customFieldId: custom.team },
      { scimAttribute: 'title', customFieldId: custom.title },
    ],
  });
}
