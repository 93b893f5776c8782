import type { Lookups } from '../../model/translation.ts';
import { isObject, type Json } from '../../schema/resource.ts';
import { nearest } from '../../schema/similar-words.ts';
import { type Field, findField } from '../fields/fields.ts';
import { toSourceUser } from '../fields/sources.ts';
import type { MappingFault } from '../mapping/mapping-faults.ts';
import { allPhoneCountries, readManager } from '../values/readers.ts';
import type { Fault, Reader, Reading } from '../values/values.ts';
import { settingSources } from './compiled-fields.ts';
import { customFieldFault, customFieldReader, findCustomField } from './custom-field-values.ts';
import type { Rule, Rules } from './rules.ts';

/** The number of known names that a remedy lists at most. */
const LISTED = 10;

/** A name in the mapping that the travel service does not know or does not accept. */
export interface NameFault extends MappingFault {
  /** The place of the rule: the mapping file, or the scimUserMapping collection of the travel service. */
  origin: Rule['origin'];
  /** True if the name is not known at present; false if it can never be valid. */
  isUnknown: boolean;
}

/**
 * Finds the names in the mapping that the travel service does not know or does not accept: in `defaults`, in the
 * targets of rules, and in the results of `map` and `default` transforms. Managers are not checked, because the travel
 * service alone does not determine which managers are known.
 */
export function checkNames(rules: Rules, lookups: Lookups): NameFault[] {
  const faults = [
    ...rules.fields.flatMap((field) => checkDefault(field, rules, lookups)),
    ...rules.rules.flatMap((rule) => checkRule(rule, rules, lookups)),
    ...rules.faults.map(({ field, mappingPath = field, reason, remedy }) => ({
      path: mappingPath,
      problem: toClause(reason),
      remedy,
      origin: 'collection' as const,
      isUnknown: false,
    })),
  ];
  // A map may have tens of thousands of entries, each with a fault.
  const first = new Map<string, NameFault>();
  for (const fault of faults) if (!first.has(fault.path)) first.set(fault.path, fault);
  return [...first.values()];
}

function checkDefault(field: Field, { mapping }: Rules, lookups: Lookups): NameFault[] {
  return checkConstants(defaultsOf(field, mapping), constantCheck(field, lookups));
}

function defaultsOf(field: Field, mapping: Rules['mapping']): Reading[] {
  const user = toSourceUser({});
  return settingSources(field, mapping).flatMap(({ mappingPath, valuesOf }) =>
    valuesOf(user).map(
      (value): Reading => ({ value, ...(mappingPath === undefined ? {} : { mappingPath }) }),
    ),
  );
}

/**
 * Returns the places of the mapping that name a cost center, billing profile, travel policy, custom field or option of the travel service, by
 * its id. The custom fields of rules of the collection have the name of their row.
 */
export function findNamedResources(rules: Rules, lookups: Lookups): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (id: string, path: string) => found.set(id, [...(found.get(id) ?? []), path]);
  const addConstants = (constants: Reading[], { read }: ConstantCheck) => {
    for (const constant of constants) {
      if ('fault' in constant || constant.mappingPath === undefined) continue;
      const reading = read(constant.value, constantContext(lookups));
      if ('value' in reading) for (const id of idsIn(reading.value)) add(id, constant.mappingPath);
    }
  };
  for (const field of rules.fields.filter(({ refersTo }) => refersTo !== undefined))
    addConstants(defaultsOf(field, rules.mapping), constantCheck(field, lookups));
  for (const { target, targetPath, constants } of rules.rules) {
    if (target.kind === 'field') {
      const field = findField(target.field, rules.fields);
      if (field?.refersTo !== undefined) addConstants(constants(), constantCheck(field, lookups));
    } else {
      const field = findCustomField(target, lookups.customFields);
      if ('code' in field) continue;
      add(field.id, targetPath);
      if (field.options.length > 0)
        addConstants(constants(), { read: customFieldReader(field, targetPath), known: [], lookups });
    }
  }
  return found;
}

/** Returns the id of a resource, or those of the options in the value of a custom field. */
function idsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [];
  return value.flatMap((one) => {
    const option = isObject(one) ? one.customFieldOptionId : undefined;
    return typeof option === 'string' ? [option] : [];
  });
}

function checkRule(
  { origin, target, targetPath, constants }: Rule,
  rules: Rules,
  lookups: Lookups,
): NameFault[] {
  if (target.kind === 'field') {
    const field = findField(target.field, rules.fields);
    return field ? checkConstants(constants(), constantCheck(field, lookups)) : [];
  }
  const found = findCustomField(target, lookups.customFields);
  const fault = 'code' in found ? found : customFieldFault(found);
  if (fault) {
    const known = lookups.customFields.map((field) => field[target.by]);
    return [{ path: targetPath, ...describeFault(fault, { value: target.value, known }), origin }];
  }
  if ('code' in found) return [];
  const options = found.options.filter(({ disabled }) => !disabled).map(({ data }) => data);
  const read = customFieldReader(found, targetPath);
  return checkConstants(constants(), { read, known: options, lookups });
}

/** The check of the constants that the mapping contains for one field. */
interface ConstantCheck {
  read: Reader;
  /** The known names and ids, to suggest one of them. */
  known: string[];
  lookups: Lookups;
}

function constantCheck({ read, refersTo }: Field, lookups: Lookups): ConstantCheck {
  const resources = refersTo === undefined ? [] : lookups[refersTo];
  const known = resources.filter(({ archived }) => !archived).flatMap(({ name, id }) => [name, id]);
  return { read: read === readManager ? readAnything : read, known, lookups };
}

const readAnything: Reader = (value) => ({ value });

function checkConstants(constants: Reading[], { read, known, lookups }: ConstantCheck): NameFault[] {
  const context = constantContext(lookups);
  // Only rules of the mapping file have transforms, and only transforms contain constants.
  const origin = 'file';
  return constants.flatMap((constant): NameFault[] => {
    if ('fault' in constant) {
      const { mappingPath } = constant.fault;
      return mappingPath === undefined
        ? []
        : [{ path: mappingPath, ...describeFault(constant.fault), origin }];
    }
    const { value, mappingPath } = constant;
    const reading = read(value, context);
    if (mappingPath === undefined || 'value' in reading) return [];
    return [{ path: mappingPath, ...describeFault(reading.fault, { value, known }), origin }];
  });
}

/** A national phone number may belong to any country: that depends on the address of each user. */
function constantContext(lookups: Lookups) {
  return { lookups, references: new Map(), applied: {}, phoneCountries: allPhoneCountries };
}

/** Describes a fault for the author of the mapping, and suggests the known name that was probably meant. */
function describeFault(
  { code, reason, remedy, needsFreshLookups: isUnknown = false }: Fault,
  named?: { value: Json; known: string[] },
): Pick<NameFault, 'problem' | 'remedy' | 'isUnknown'> {
  if (!named) return { problem: toClause(withoutPath(reason)), remedy: 'Correct the transforms.', isUnknown };
  const text = nameIn(named.value);
  const quoted = JSON.stringify(text);
  const problem = reason.includes(quoted) ? toClause(reason) : `${toClause(reason)}: ${quoted}`;
  if (isUnknown) return { problem, remedy: remedyForUnknown(text, named.known), isUnknown };
  const isOfTravelService = /(Ambiguous|Archived|Disabled|Type)$/.test(code);
  return { problem, remedy: isOfTravelService ? remedy : 'Correct the value.', isUnknown };
}

/** Removes the mapping path from the reason, because `NameFault` has it as a member of its own. */
function withoutPath(reason: string): string {
  return reason.replace(/^The mapping is at fault \(.*?\)\. /, '');
}

function remedyForUnknown(text: string, known: string[]): string {
  if (known.length === 0) return 'Create it in the travel service, which has none yet.';
  const meant = nearest(text, known);
  if (meant !== undefined) return `Did you mean ${JSON.stringify(meant)}?`;
  const listed = known.slice(0, LISTED).map((name) => JSON.stringify(name));
  const more = known.length > LISTED ? ` and ${known.length - LISTED} more` : '';
  return `Known there: ${listed.join(', ')}${more}.`;
}

/** Returns the name or id in a value that is text, `{ "name": … }` or `{ "id": … }`. */
function nameIn(value: Json): string {
  const [inner = value] = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return typeof inner === 'string' ? inner : JSON.stringify(inner);
}

/** Converts a sentence to a clause, e.g. `The profile is gone.` to `the profile is gone`. */
function toClause(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}
