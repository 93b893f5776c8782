import fc from 'fast-check';
import { normalize } from '../../../src/schema/normalize.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  SchemaFault,
  type ScimResource,
  urns,
} from '../../../src/schema/resource.ts';
import { userType } from '../../../src/schema/resource-types.ts';
import { applyPatch, parsePatch } from '../../../src/scim/patch/patch.ts';
import { ScimError } from '../../../src/scim/protocol/errors.ts';
import { runs } from '../../fixtures/runs.ts';
import { patchOp } from '../../fixtures/scim.ts';

/** Properties of every PATCH, tested with random operations on random users, and against two small models. */

const ENT = urns.enterprise;
const OTHER = 'urn:example:acme:2.0:User';

const text = fc.constantFrom('a', 'b', 'A', 'c@x', '', ' ', 'É', '0');
const type = fc.constantFrom('work', 'home', 'Work');
const element = fc.record({ value: text, type, primary: fc.boolean(), display: text }, { requiredKeys: [] });
const elements = fc.array(element, { maxLength: 4 });
const open = fc.letrec<{ any: Json; leaf: Json }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('no', 'type', 'value', 'NO', '__proto__'), tie('any'), { maxKeys: 3 }),
  ),
  leaf: fc.oneof(
    text,
    fc.boolean(),
    fc.integer(),
    fc.double({ max: 9, min: -9, noNaN: true }),
    fc.constant(null),
  ),
})).any;

const user = fc
  .record(
    {
      title: text,
      active: fc.boolean(),
      name: fc.record({ givenName: text, familyName: text }, { requiredKeys: [] }),
      emails: elements,
      phoneNumbers: elements,
      [ENT]: fc.record({ department: text, manager: fc.record({ value: text }) }, { requiredKeys: [] }),
      [OTHER]: fc.record({ badge: open, list: elements }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  )
  .map((body) => frozen(normalize(userType, { userName: 'ada', ...body } as JsonObject).resource));

/** Paths, by the attribute that they may change. */
const paths: Record<string, string[]> = {
  title: ['title', 'TITLE'],
  active: ['active'],
  name: ['name', 'name.givenName', 'name.familyName'],
  emails: [
    'emails',
    'emails.display',
    'emails[type eq "work"]',
    'emails[type eq "home"].value',
    'emails[primary eq true]',
  ],
  phoneNumbers: ['phoneNumbers', 'phoneNumbers[value sw "a"]', 'phoneNumbers[not (type eq "work")].type'],
  [`${ENT}:department`]: [`${ENT}:department`],
  [`${ENT}:manager`]: [`${ENT}:manager`, `${ENT}:manager.value`, `${ENT}:manager.displayName`],
  [`${OTHER}:badge`]: [`${OTHER}:badge`, `${OTHER}:badge.no`],
  [`${OTHER}:list`]: [`${OTHER}:list`, `${OTHER}:list[type eq "work"].value`],
};
const value = fc.oneof(
  text,
  fc.boolean(),
  element,
  elements,
  open,
  fc.constant({ value: 'a' }),
) as fc.Arbitrary<Json>;

interface Planned {
  /** The attribute that the operation may change. */
  place: string;
  operation: JsonObject;
}

const planned: fc.Arbitrary<Planned> = fc.constantFrom(...Object.keys(paths)).chain((place) =>
  fc
    .record({
      op: fc.constantFrom('add', 'replace', 'remove'),
      path: fc.constantFrom(...(paths[place] ?? [])),
      value,
    })
    .map((operation) => ({ place, operation })),
);
const operations = fc.array(planned, { minLength: 1, maxLength: 6 });

const RUNS = runs(1000);

test('a PATCH does not modify the given resource, and returns a normalized one', () => {
  fc.assert(
    fc.property(user, operations, (seed, all) => {
      const result = patched(seed, all);
      if (result) expect(normalize(userType, result).resource).toEqual(result);
    }),
    RUNS,
  );
});

test('a PATCH with many operations has the outcome of one PATCH for each operation', () => {
  fc.assert(
    fc.property(user, operations, (seed, all) => {
      const steps = all.reduce<ScimResource | undefined>((now, one) => now && patched(now, [one]), seed);
      expect(patched(seed, all)).toEqual(steps);
    }),
    RUNS,
  );
});

test('attributes that no operation names do not change', () => {
  fc.assert(
    fc.property(user, planned, (seed, one) => {
      const result = patched(seed, [one]);
      if (result) expect(without(result, one.place)).toEqual(without(seed, one.place));
    }),
    RUNS,
  );
});

/**
 * True for a list in which an element without a `value` stands beside others. Such an element is found by its labels, and
 * another element of the same operation can change the labels that it was found by: `[{"display": "b"}, {"value": "0",
 * "display": "a"}]` for `[{"value": "0", "display": "b"}]`.
 */
function changesOwnLabels({ operation }: Planned): boolean {
  const { value: listed } = operation;
  if (!Array.isArray(listed) || listed.length < 2) return false;
  return listed.some((added) => isObject(added) && !('value' in added));
}

test('repeating an operation changes nothing', () => {
  fc.assert(
    fc.property(user, planned, (seed, one) => {
      fc.pre(!changesOwnLabels(one));
      const once = patched(seed, [one]);
      // An element that no longer matches the filter is not found again.
      const twice = once && patched(once, [one]);
      if (once && twice && !String(one.operation['path']).includes('[')) expect(twice).toEqual(once);
    }),
    RUNS,
  );
});

test('operations on different attributes may come in any order', () => {
  fc.assert(
    fc.property(user, planned, planned, (seed, one, other) => {
      fc.pre(one.place !== other.place);
      expect(patched(seed, [one, other])).toEqual(patched(seed, [other, one]));
    }),
    RUNS,
  );
});

test('adding an absent attribute and removing it restores the resource', () => {
  fc.assert(
    fc.property(user, planned, (seed, one) => {
      const bare = frozen(without(seed, one.place));
      const remove = { place: one.place, operation: { op: 'remove', path: one.place } };
      const result = patched(bare, [one, remove]);
      if (result) expect(result).toEqual(bare);
    }),
    RUNS,
  );
});

test('an operation without a path has the outcome of one operation for each key', () => {
  fc.assert(
    fc.property(user, planned, (seed, { place, operation }) => {
      const { op, path, value: given } = operation;
      fc.pre(op !== 'remove');
      const pathless = { place, operation: { op: op ?? '', value: { [String(path)]: given ?? null } } };
      expect(patched(seed, [pathless])).toEqual(patched(seed, [{ place, operation }]));
    }),
    RUNS,
  );
});

describe('a single value compared with a model', () => {
  const names = ['title', 'nickName', 'userType', 'locale'];
  const step = fc.record({
    op: fc.constantFrom('add', 'replace', 'remove', 'Replace'),
    name: fc.constantFrom(...names),
    value: fc.constantFrom<Json>('a', 'b', '', null, 7, ['c'], [{ value: 'd' }]),
  });
  const kept = new Map<Json, string | undefined>([
    [null, undefined],
    [7, '7'],
  ]);

  test('has the value of the last operation; null and remove clear it', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const model = new Map<string, string | undefined>([['userName', 'ada']]);
        for (const { op, name, value: given } of steps) {
          const only = Array.isArray(given) ? (isObject(given[0]) ? 'd' : 'c') : given;
          model.set(name, op === 'remove' ? undefined : kept.has(only) ? kept.get(only) : String(only));
        }
        const sent = steps.map(({ op, name, value: given }) => ({ op, path: name, value: given }));
        const result = applyPatch(userType, { userName: 'ada' }, parsePatch(patchOp(...sent)));
        expect(result).toEqual(Object.fromEntries([...model].filter(([, one]) => one !== undefined)));
      }),
      RUNS,
    );
  });
});

describe('a multi-valued attribute compared with a model', () => {
  type Role = { value: string; type?: string };
  const role = fc.record({ value: fc.constantFrom('a', 'b', 'B', 'c'), type }, { requiredKeys: ['value'] });
  const step = fc.oneof(
    fc.record({ op: fc.constant('add' as const), roles: fc.array(role, { minLength: 1, maxLength: 3 }) }),
    fc.record({ op: fc.constant('replace' as const), roles: fc.array(role, { maxLength: 3 }) }),
    fc.record({ op: fc.constant('listed' as const), roles: fc.array(role, { minLength: 1, maxLength: 2 }) }),
    fc.record({ op: fc.constant('byValue' as const), roles: fc.tuple(role) }),
    fc.record({ op: fc.constant('byType' as const), roles: fc.tuple(role) }),
  );
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

  const same = (one: string | undefined, other: string | undefined) =>
    one?.toLowerCase() === other?.toLowerCase();
  const isMeant = (one: Role, meant: Role) =>
    same(one.value, meant.value) && (meant.type === undefined || same(one.type, meant.type));

  const folded = (roles: Role[]) =>
    roles.filter(({ value, type }, index) => {
      const first = roles.findIndex((one) => one.value === value && one.type === type);
      return first === index;
    });

  function modelled(roles: Role[], { op, roles: given }: Step): Role[] {
    switch (op) {
      case 'replace':
        return given;
      case 'listed':
        return roles.filter((one) => !given.some((meant) => isMeant(one, meant)));
      case 'byValue':
        return roles.filter((one) => !same(one.value, given[0]?.value));
      case 'byType':
        return roles.filter((one) => !same(one.type, given[0]?.type ?? 'work'));
      case 'add':
        return folded(given).reduce((now, meant) => {
          const index = now.findIndex((one) => isMeant(one, meant));
          return index < 0 ? now.concat(meant) : now.with(index, { ...now[index], ...meant });
        }, roles);
    }
  }

  function sent({ op, roles }: Step): JsonObject {
    const [first] = roles;
    if (op === 'byValue') return { op: 'remove', path: `roles[value eq "${first?.value}"]` };
    if (op === 'byType') return { op: 'remove', path: `roles[type eq "${first?.type ?? 'work'}"]` };
    return { op: op === 'listed' ? 'remove' : op, path: 'roles', value: roles };
  }

  test('adds each value once, replaces all, removes by list and by filter, and keeps the order', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        const roles = steps.reduce<Role[]>((now, one) => folded(modelled(now, one)), []);
        const result = applyPatch(userType, { userName: 'ada' }, parsePatch(patchOp(...steps.map(sent))));
        expect(result).toEqual({ userName: 'ada', ...(roles.length > 0 ? { roles } : {}) });
      }),
      RUNS,
    );
  });
});

/** Returns the user after these operations; undefined if they are refused. */
function patched(seed: ScimResource, all: Planned[]): ScimResource | undefined {
  try {
    const message = patchOp(...all.map(({ operation }) => operation));
    return frozen(applyPatch(userType, seed, parsePatch(frozen(message))));
  } catch (error) {
    if (error instanceof ScimError || error instanceof SchemaFault) return undefined;
    throw error;
  }
}

/** Returns the resource without that attribute, and without an extension that has no other. */
function without(resource: ScimResource, place: string): ScimResource {
  const urn = [ENT, OTHER].find((one) => place.startsWith(one));
  const extension = urn === undefined ? undefined : resource[urn];
  if (urn === undefined) return dropped(resource, place);
  const rest = isObject(extension) ? dropped(extension, place.slice(urn.length + 1)) : {};
  return Object.keys(rest).length > 0 ? { ...resource, [urn]: rest } : dropped(resource, urn);
}

function dropped(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

/** Freezes a value at every depth, so that writing to it throws. */
function frozen<T extends Json>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}
