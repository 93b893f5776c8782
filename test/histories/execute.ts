import type { JsonObject } from '../../src/schema/resource.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
import {
  addressOf,
  type ConnectionName,
  type IdentityProviders,
  type Person,
  type UserWrite,
} from './identity-providers.ts';
import { type Attribute, type EditedField, type Operation, pools } from './operations.ts';
import { type HistoryRecord, recordRules } from './record.ts';
import { type Catalog, editOf, fieldValue, type MappedAttribute, type Value } from './traveler-fields.ts';
import type { WantedUser } from './wanted-user.ts';

/** The travel service of a history, as its admin uses it. */
export interface TravelService {
  catalog: Catalog;
  /** Undefined if there is no such traveler. */
  read(id: string): Promise<TravelUser | undefined>;
  /** Undefined if the address is taken. */
  create(data: JsonObject & { email: string }): Promise<TravelUser | undefined>;
  patch(id: string, data: JsonObject): Promise<void>;
  remove(id: string): Promise<void>;
  /** Adds or removes the rule for an attribute. */
  setRule(attribute: MappedAttribute, isThere: boolean): Promise<void>;
  /** Adds a cost center, or removes it. */
  toggleCostCenter(name: string): Promise<void>;
}

/** The context on which the operations of a history act. */
export interface HistoryContext {
  travel: TravelService;
  providers: IdentityProviders;
  record: HistoryRecord;
  people: readonly Person[];
  /** Writes a line into the transcript. */
  note(line: string): void;
  /** Operations that wait for the next check, as their outcome would depend on which of several calls came first. */
  deferred: Operation[];
  /** The number of values that were entered by hand so far, so that each of them is another one. */
  edits: number;
}

type Of<K extends Operation['kind']> = Extract<Operation, { kind: K }>;

/** Begins an operation after the earlier ones of these people, or lets it wait for the next check. */
export function beginOperation(
  context: HistoryContext,
  operation: Operation,
  then: (who: readonly number[], act: () => Promise<void>) => void,
): void {
  switch (operation.kind) {
    case 'rule':
    case 'lookup':
    case 'guard':
      context.deferred.push(operation);
      break;
    case 'swap':
      then(operation.ring, () => swap(context, operation));
      break;
    case 'edit':
      if (mustDeferEdit(operation.field)) context.deferred.push(operation);
      else then([operation.who], () => editByHand(context, operation));
      break;
    default:
      then([operation.who], () => executeForPerson(context, operation));
  }
}

/** Executes the deferred operations. Each rule changes at most once, as the bridge may or may not see a state in between. */
export async function executeDeferred(context: HistoryContext): Promise<void> {
  const { deferred: calm, record, travel } = context;
  const changed = new Set<string>();
  for (const operation of calm.splice(0)) {
    if (operation.kind === 'edit') await editByHand(context, operation);
    if (operation.kind === 'guard') await toggleAdmin(context);
    if (operation.kind === 'lookup') await travel.toggleCostCenter(operation.costCenter);
    if (operation.kind !== 'rule' || changed.has(operation.attribute)) continue;
    changed.add(operation.attribute);
    const { attribute } = operation;
    const { collection } = record.rules;
    const isThere = !collection.has(attribute);
    await travel.setRule(attribute, isThere);
    const others = [...collection].filter((one) => one !== attribute);
    recordRules(record, { collection: new Set(isThere ? [...others, attribute] : others) });
  }
}

/** True for arrays, custom fields and the address: an edit at the same moment as a PATCH of the bridge may rightly be lost. */
function mustDeferEdit(field: EditedField): boolean {
  return /^(roles|address)\.|^(team|floor)$/.test(field);
}

type PersonOperation = Exclude<Operation, Of<'rule' | 'lookup' | 'guard' | 'swap' | 'edit'>>;

async function executeForPerson(context: HistoryContext, operation: PersonOperation): Promise<void> {
  const person = context.people[operation.who];
  // While the outcome of the last write is unknown, the IdP reads the user first.
  if (!person || person.unanswered) return;
  if (operation.kind === 'stranger') return createStranger(context, person, operation);
  if (operation.kind === 'vanish') return removeTraveler(context, person);
  await sendWrite(context, person, operation);
}

async function sendWrite(
  context: HistoryContext,
  person: Person,
  operation: Exclude<PersonOperation, Of<'stranger' | 'vanish'>>,
): Promise<void> {
  const { current } = person;
  const send = (
    verb: UserWrite['verb'],
    wanted: WantedUser | undefined,
    connection = person.lastConnection,
  ) => context.providers.send(person, { verb, connection, wanted });
  if (!current) {
    if (operation.kind === 'leave') return;
    const isJoin = operation.kind === 'join';
    const wanted = { ...person.lastWanted, active: isJoin ? operation.active : true };
    const connection = operation.kind === 'move' ? otherThan(person.lastConnection) : person.lastConnection;
    await send('POST', isJoin ? withExternalId(person, wanted, operation.as) : wanted, connection);
    return;
  }
  const { wanted } = current;
  switch (operation.kind) {
    case 'leave':
      await send('DELETE', undefined);
      return;
    case 'move':
      // A guarded person, whose DELETE was refused, does not move.
      if ((await send('DELETE', undefined)) && !person.current)
        await send('POST', { ...wanted, manager: undefined }, otherThan(current.connection));
      return;
    case 'update':
      await send(operation.via === 'put' ? 'PUT' : 'PATCH', { ...wanted, ...chosenValues(operation.set) });
      return;
    case 'join':
      await send('PUT', wanted);
      return;
    case 'active': {
      const { active } = operation;
      const isBack = active && !wanted.active;
      await send(
        'PATCH',
        isBack ? withExternalId(person, { ...wanted, active }, operation.as) : { ...wanted, active },
      );
      return;
    }
    case 'email':
      await send('PATCH', { ...wanted, email: addressOf(operation.address) });
      return;
    case 'manager':
      await send('PATCH', { ...wanted, manager: managerOf(context, operation) });
  }
}

/** Lets several people of one connection exchange their addresses in a cycle. */
async function swap({ people, providers }: HistoryContext, { ring }: Of<'swap'>): Promise<void> {
  const [first, ...others] = ring.flatMap((who) => people[who] ?? []).filter(({ current }) => current);
  if (!first?.current) return;
  const { connection } = first.current;
  const members = [first, ...others.filter(({ current }) => current?.connection === connection)].filter(
    ({ unanswered }) => !unanswered,
  );
  const emails = members.map(({ lastWanted: last }) => last.email);
  await Promise.all(
    members.map((person, index) => {
      const email = emails[(index + 1) % emails.length] ?? person.lastWanted.email;
      return providers.send(person, { verb: 'PATCH', connection, wanted: { ...person.lastWanted, email } });
    }),
  );
}

function otherThan(connection: ConnectionName): ConnectionName {
  return connection === 'default' ? 'second' : 'default';
}

/** The wanted user with the same externalId, or with a new one as another person. */
function withExternalId(person: Person, wanted: WantedUser, as: 'same' | 'other'): WantedUser {
  if (as === 'same') return wanted;
  person.externalIds += 1;
  // Another given name makes another person; another externalId alone does not.
  const givenName = `Ada${person.externalIds}`;
  return { ...wanted, givenName, externalId: `E${person.index}-${person.externalIds}` };
}

function chosenValues(set: Of<'update'>['set']): Partial<WantedUser> {
  const entries = Object.entries(set).map(([name, at]) => [name, pools[name as Attribute][at]]); // The keys are attributes.
  return Object.fromEntries(entries);
}

/** The value that refers to a manager: the userName only if it is no address, else the SCIM id. */
function managerOf({ people }: HistoryContext, { of, by }: Of<'manager'>): string | undefined {
  const manager = of === undefined ? undefined : people[of];
  if (!manager) return undefined;
  const { userName } = manager.lastWanted;
  return by === 'userName' && !userName.includes('@') ? userName : manager.current?.id;
}

/** A valid value for a field, different each time where possible. */
function editedValue(context: HistoryContext, field: EditedField, before: Value): Value {
  context.edits += 1;
  const { edits } = context;
  if (field === 'archived') return before === 'true' ? 'false' : 'true';
  if (field.startsWith('roles.')) return before === undefined ? 'true' : undefined;
  if (field === 'email') return `hand${edits}@hand.example`;
  if (field === 'gender') return before === 'female' ? 'male' : 'female';
  if (field === 'currency') return before === 'EUR' ? 'USD' : 'EUR';
  if (field === 'phoneNumber') return `+33 1426${String(10_000 + (edits % 90_000))}`;
  if (field === 'address.postalCode') return String(10_000 + (edits % 90_000));
  return `Hand ${edits}`;
}

async function editByHand(context: HistoryContext, { who, field }: Of<'edit'>): Promise<void> {
  const { travel, record, people, note } = context;
  const person = people[who];
  const traveler = person && (await travelerOf(context, person));
  if (!traveler) return;
  const value = editedValue(
    context,
    field,
    field === 'email' ? traveler.email : fieldValue(traveler, field, record.catalog),
  );
  await travel.patch(traveler.id, editOf(traveler, field, value, record.catalog));
  const key = `${traveler.id} ${field}`;
  record.edits.set(key, (record.edits.get(key) ?? 0) + 1);
  record.events.push({ kind: 'edit', traveler: traveler.id, field, value });
  note(`  p${who} by hand: ${field} of ${traveler.id} becomes ${value ?? 'nothing'}`);
}

/** The traveler that a person is linked to, or was linked to before leaving. */
async function travelerOf(
  { travel, record, providers }: HistoryContext,
  person: Person,
): Promise<TravelUser | undefined> {
  const left = [...record.memory].find(([, { owner }]) => owner?.person === person.index)?.[0];
  const id = person.current ? await providers.travelId(person) : left;
  return id === undefined ? undefined : travel.read(id);
}

/** Gives the last of the people the role of an admin of the travel service, or takes it away. */
async function toggleAdmin(context: HistoryContext): Promise<void> {
  const { travel, record, providers, people } = context;
  const person = people.at(-1);
  const traveler = person && (await travelerOf(context, person));
  if (!traveler) return;
  // The traveler of a person who left may be linked to another one by now.
  for (const one of people)
    if (one === person || (await providers.travelId(one)) === traveler.id) one.isGuarded = true;
  record.guarded.add(traveler.id);
  const others = (traveler.roles ?? []).filter((role) => role !== 'admin');
  const roles = others.length === (traveler.roles ?? []).length ? [...others, 'admin'] : others;
  await travel.patch(traveler.id, { roles });
}

async function removeTraveler(context: HistoryContext, person: Person): Promise<void> {
  const { travel, record } = context;
  const traveler = await travelerOf(context, person);
  if (!traveler) return;
  await travel.remove(traveler.id);
  record.events.push({ kind: 'vanish', traveler: traveler.id, person: person.index });
}

/** Creates a traveler by hand with the address of a person who has no user. */
async function createStranger(
  context: HistoryContext,
  person: Person,
  { archived }: Of<'stranger'>,
): Promise<void> {
  const { travel, record } = context;
  if (person.current) return;
  context.edits += 1;
  const { edits } = context;
  const values = {
    firstName: `Hand ${edits}`,
    lastName: 'Stranger',
    phoneNumber: '+33 142600000',
    gender: 'female',
    archived: String(archived),
    'roles.guest': 'true',
    floor: `Hand ${edits}`,
    'address.region': `Hand ${edits}`,
  };
  const { firstName, lastName, phoneNumber, gender } = values;
  const traveler = await travel.create({
    ...{
      firstName,
      lastName,
      phoneNumber,
      gender,
      archived,
      email: person.lastWanted.email,
      roles: ['guest'],
    },
    address: { region: values['address.region'] },
    customFields: [{ customFieldId: record.catalog.custom.floor, values: [{ data: values.floor }] }],
  });
  if (!traveler) return;
  record.strangers.set(traveler.id, person.index);
  record.events.push({ kind: 'stranger', traveler: traveler.id, person: person.index, values });
}
