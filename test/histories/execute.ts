import type { TravelUser } from '../../src/translator/traveler.ts';
import { addressOf, type ConnectionName, type Idps, type Person, type Write } from './idp.ts';
import { type Attribute, type EditedField, type Operation, pools } from './operations.ts';
import type { Ledger } from './oracle.ts';
import { editOf, fieldValue, type Value } from './traveler-fields.ts';
import type { Wish } from './wish.ts';
import type { World } from './world.ts';

/** What operations act on. */
export interface Stage {
  world: World;
  idps: Idps;
  ledger: Ledger;
  people: readonly Person[];
  /** Writes a line into the transcript. */
  note(line: string): void;
  /** Operations that happen at the next rest: the outcome under way would depend on who came first. */
  calm: Operation[];
}

type Of<K extends Operation['kind']> = Extract<Operation, { kind: K }>;

/** Carries out the operations of one step at once; those of one person follow each other. */
export async function execute(stage: Stage, step: readonly Operation[]): Promise<void> {
  const { world } = stage;
  const chains = new Map<number, Promise<void>>();
  const then = (who: readonly number[], act: () => Promise<void>) => {
    const before = Promise.all(who.map((one) => chains.get(one)));
    const after = before.then(act);
    for (const one of who) chains.set(one, after);
  };
  let stopping: Promise<void> | undefined;
  for (const operation of step) if (operation.kind === 'trouble') world.disturb(operation.next);
  for (const operation of step) {
    switch (operation.kind) {
      case 'trouble':
        break;
      case 'jump':
        world.jump(operation.ms);
        break;
      case 'kill':
        if (operation.how !== 'now') await world.arm(operation.how);
        else stopping ??= afterOne(chains).then(() => world.kill());
        break;
      case 'restart':
        stopping ??= afterOne(chains).then(() => (world.isDead() ? undefined : world.stopBridge()));
        break;
      case 'rule':
      case 'lookup':
      case 'guard':
        stage.calm.push(operation);
        break;
      case 'swap':
        then(operation.ring, () => swap(stage, operation));
        break;
      case 'edit':
        if (isCalmEdit(operation.field) || isEmbedded(stage)) stage.calm.push(operation);
        else then([operation.who], () => edit(stage, operation));
        break;
      case 'vanish':
      case 'stranger':
        if (isEmbedded(stage)) {
          stage.calm.push(operation);
          break;
        }
        then([operation.who], () => actOn(stage, operation));
        break;
      default:
        then([operation.who], () => actOn(stage, operation));
    }
  }
  await Promise.all(chains.values());
  await stopping;
}

/** Carries out what waited for a rest. Each rule changes once only, as nobody knows whether the bridge sees the state between. */
export async function executeCalm(stage: Stage): Promise<void> {
  const { calm, ledger, world } = stage;
  const changed = new Set<string>();
  for (const operation of calm.splice(0)) {
    if (operation.kind === 'edit') await edit(stage, operation);
    if (operation.kind === 'vanish' || operation.kind === 'stranger') await actOn(stage, operation);
    if (operation.kind === 'guard') await guard(stage);
    if (operation.kind === 'lookup') await world.travel.toggleCostCenter(operation.costCenter);
    if (operation.kind !== 'rule' || changed.has(operation.attribute)) continue;
    changed.add(operation.attribute);
    const isThere = !ledger.rules.has(operation.attribute);
    await world.travel.setRule(operation.attribute, isThere);
    if (isThere) ledger.rules.add(operation.attribute);
    else ledger.rules.delete(operation.attribute);
  }
}

/** Ends when the first of the chains does. */
async function afterOne(chains: Map<number, Promise<void>>): Promise<void> {
  await Promise.race([...chains.values(), ...(chains.size === 0 ? [Promise.resolve()] : [])]);
}

/** The admin's client reaches an embedded travel service only while the bridge lives. */
function isEmbedded({ world }: Stage): boolean {
  return world.travel.url() === undefined;
}

/** Arrays are written whole, and an address by its parts: an edit in the same moment as a write of the bridge is nobody's fault. */
function isCalmEdit(field: EditedField): boolean {
  return /^(roles|address)\.|^(team|floor)$/.test(field);
}

type PersonOperation = Exclude<
  Operation,
  Of<'trouble' | 'jump' | 'kill' | 'restart' | 'rule' | 'lookup' | 'guard' | 'swap' | 'edit'>
>;

async function actOn(stage: Stage, operation: PersonOperation): Promise<void> {
  const person = stage.people[operation.who];
  // The outcome of the last write is not known: its IdP asks first.
  if (!person || person.asked) return;
  if (operation.kind === 'stranger') return stranger(stage, person, operation);
  if (operation.kind === 'vanish') return vanish(stage, person);
  await write(stage, person, operation);
}

async function write(
  stage: Stage,
  person: Person,
  operation: Exclude<PersonOperation, Of<'stranger' | 'vanish'>>,
): Promise<void> {
  const { present } = person;
  const send = (verb: Write['verb'], wish: Wish | undefined, connection = person.lastConnection) =>
    stage.idps.send(person, { verb, connection, wish });
  if (!present) {
    if (operation.kind === 'leave') return;
    const isJoin = operation.kind === 'join';
    const wish = { ...person.last, active: isJoin ? operation.active : true };
    const connection = operation.kind === 'move' ? otherThan(person.lastConnection) : person.lastConnection;
    await send('POST', isJoin ? named(person, wish, operation.as) : wish, connection);
    return;
  }
  const { wish } = present;
  switch (operation.kind) {
    case 'leave':
      await send('DELETE', undefined);
      return;
    case 'move':
      // A guarded person, whose DELETE was refused, stays where they are.
      if ((await send('DELETE', undefined)) && !person.present)
        await send('POST', { ...wish, manager: undefined }, otherThan(present.connection));
      return;
    case 'update':
      await send(operation.via === 'put' ? 'PUT' : 'PATCH', { ...wish, ...chosen(operation.set) });
      return;
    case 'join':
      await send('PUT', wish);
      return;
    case 'active': {
      const { active } = operation;
      const isBack = active && !wish.active;
      await send('PATCH', isBack ? named(person, { ...wish, active }, operation.as) : { ...wish, active });
      return;
    }
    case 'email':
      await send('PATCH', { ...wish, email: addressOf(operation.address) });
      return;
    case 'manager':
      await send('PATCH', { ...wish, manager: managerOf(stage, operation) });
  }
}

/** Several people of one connection take each other's addresses. */
async function swap({ people, idps }: Stage, { ring }: Of<'swap'>): Promise<void> {
  const [first, ...others] = ring.flatMap((who) => people[who] ?? []).filter(({ present }) => present);
  if (!first?.present) return;
  const { connection } = first.present;
  const members = [first, ...others.filter(({ present }) => present?.connection === connection)].filter(
    ({ asked }) => !asked,
  );
  const emails = members.map(({ last }) => last.email);
  await Promise.all(
    members.map((person, index) => {
      const email = emails[(index + 1) % emails.length] ?? person.last.email;
      return idps.send(person, { verb: 'PATCH', connection, wish: { ...person.last, email } });
    }),
  );
}

function otherThan(connection: ConnectionName): ConnectionName {
  return connection === 'default' ? 'second' : 'default';
}

/** Under the same externalId, or as somebody else. */
function named(person: Person, wish: Wish, as: 'same' | 'other'): Wish {
  if (as === 'same') return wish;
  person.externalIds += 1;
  return { ...wish, externalId: `E${person.index}-${person.externalIds}` };
}

function chosen(set: Of<'update'>['set']): Partial<Wish> {
  const entries = Object.entries(set).map(([name, at]) => [name, pools[name as Attribute][at]]); // The keys are attributes.
  return Object.fromEntries(entries);
}

/** A reference by userName is used only where no address can be meant. */
function managerOf({ people }: Stage, { of, by }: Of<'manager'>): string | undefined {
  const manager = of === undefined ? undefined : people[of];
  if (!manager) return undefined;
  const { userName } = manager.last;
  return by === 'userName' && !userName.includes('@') ? userName : manager.present?.id;
}

let edits = 0;

/** What the travel service takes in a field, different each time where that is possible. */
function editedValue(field: EditedField, before: Value): Value {
  edits += 1;
  if (field === 'archived') return before === 'true' ? 'false' : 'true';
  if (field.startsWith('roles.')) return before === undefined ? 'true' : undefined;
  if (field === 'email') return `hand${edits}@hand.example`;
  if (field === 'gender') return before === 'female' ? 'male' : 'female';
  if (field === 'currency') return before === 'EUR' ? 'USD' : 'EUR';
  if (field === 'phoneNumber') return `+33 1426${String(10_000 + (edits % 90_000))}`;
  if (field === 'address.postalCode') return String(10_000 + (edits % 90_000));
  return `Hand ${edits}`;
}

async function edit({ world, ledger, idps, people, note }: Stage, { who, field }: Of<'edit'>): Promise<void> {
  const person = people[who];
  const traveler = person && (await travelerOf(world, ledger, idps, person));
  if (!traveler) return;
  const value = editedValue(
    field,
    field === 'email' ? traveler.email : fieldValue(traveler, field, ledger.catalog),
  );
  await world.travel.patch(traveler.id, editOf(traveler, field, value, ledger.catalog));
  const key = `${traveler.id} ${field}`;
  ledger.edits.set(key, (ledger.edits.get(key) ?? 0) + 1);
  ledger.events.push({ kind: 'edit', traveler: traveler.id, field, value });
  note(`  p${who} by hand: ${field} of ${traveler.id} becomes ${value ?? 'nothing'}`);
}

/** The traveler that a person is linked to, or was when they left. */
async function travelerOf(
  world: World,
  ledger: Ledger,
  idps: Idps,
  person: Person,
): Promise<TravelUser | undefined> {
  const left = [...ledger.memory].find(([, { owner }]) => owner?.person === person.index)?.[0];
  const id = person.present ? await idps.travelId(person) : left;
  return id === undefined ? undefined : world.travel.read(id);
}

/** The last of the people becomes an admin of the travel service by hand, or is one no more. */
async function guard({ world, ledger, idps, people }: Stage): Promise<void> {
  const person = people.at(-1);
  const traveler = person && (await travelerOf(world, ledger, idps, person));
  if (!traveler) return;
  // The traveler of somebody who left may be another's by now.
  for (const one of people)
    if (one === person || (await idps.travelId(one)) === traveler.id) one.isGuarded = true;
  ledger.guarded.add(traveler.id);
  const others = (traveler.roles ?? []).filter((role) => role !== 'admin');
  const roles = others.length === (traveler.roles ?? []).length ? [...others, 'admin'] : others;
  await world.travel.patch(traveler.id, { roles });
}

async function vanish({ world, ledger, idps }: Stage, person: Person): Promise<void> {
  const traveler = await travelerOf(world, ledger, idps, person);
  if (!traveler) return;
  await world.travel.remove(traveler.id);
  ledger.events.push({ kind: 'vanish', traveler: traveler.id, person: person.index });
}

/** Somebody makes a traveler by hand for a person who is not there yet. */
async function stranger(
  { world, ledger }: Stage,
  person: Person,
  { archived }: Of<'stranger'>,
): Promise<void> {
  if (person.present) return;
  edits += 1;
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
  const traveler = await world.travel.create({
    ...{ firstName, lastName, phoneNumber, gender, archived, email: person.last.email, roles: ['guest'] },
    address: { region: values['address.region'] },
    customFields: [{ customFieldId: ledger.catalog.custom.floor, values: [{ data: values.floor }] }],
  });
  if (!traveler) return;
  ledger.strangers.set(traveler.id, person.index);
  ledger.events.push({ kind: 'stranger', traveler: traveler.id, person: person.index, values });
}
