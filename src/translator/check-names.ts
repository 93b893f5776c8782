import type { Json } from '../schema/resource.ts';
import { customFieldFault, customFieldReader, findField } from './custom-fields.ts';
import { defaultRules } from './default-rules.ts';
import { type PlainField, plainFields } from './fields.ts';
import { type MappingFault, nearest } from './mapping-faults.ts';
import { allPhoneCountries, readers } from './readers.ts';
import type { Rule, Rules } from './rules.ts';
import type { Lookups } from './translation.ts';
import type { Fault, Reader, Reading } from './values.ts';

/** How many of the known names a remedy lists. */
const LISTED = 10;

/** A name of the mapping that cannot be used. */
export interface NameFault extends MappingFault {
  /** Where the rule is written: in the mapping file, or in the scimUserMapping collection of the travel service. */
  origin: Rule['origin'];
  /** True if the travel service does not know the name; false if it can never be right. */
  isUnknown: boolean;
}

/** How the constants of one field are checked. */
interface Check {
  read: Reader;
  /** What may be named there, by name or id. */
  known: string[];
  lookups: Lookups;
}

/**
 * Every place of the mapping at which the travel service does not know or does not take what is named: the defaults, the
 * targets of rules, and the results of `map` and `default` transforms. The manager is left out: the bridge alone knows people.
 */
export function checkNames(rules: Rules, lookups: Lookups): NameFault[] {
  const faults = [
    ...plainFields.flatMap((field) => faultsOfDefault(field, rules, lookups)),
    ...rules.rules.flatMap((rule) => faultsOfRule(rule, lookups)),
    ...rules.faults.map(({ field, mappingPath = field, reason, remedy }) => ({
      path: mappingPath,
      problem: clauseOf(reason),
      remedy,
      origin: 'collection' as const,
      isUnknown: false,
    })),
  ];
  return faults.filter(({ path }, index) => faults.findIndex((other) => other.path === path) === index);
}

function faultsOfDefault(field: PlainField, { mapping }: Rules, lookups: Lookups): NameFault[] {
  const own = defaultRules[field]({}, mapping).filter(({ mappingPath }) => mappingPath !== undefined);
  const readings = own.flatMap(({ mappingPath, raws }) =>
    raws.map((value): Reading => ({ value, ...(mappingPath === undefined ? {} : { mappingPath }) })),
  );
  return faultsOfConstants(readings, checkOf(field, lookups));
}

function faultsOfRule({ origin, target, targetPath, constants }: Rule, lookups: Lookups): NameFault[] {
  if (target.kind === 'field') return faultsOfConstants(constants(), checkOf(target.field, lookups));
  const found = findField(target, lookups.customFields);
  const fault = 'code' in found ? found : customFieldFault(found);
  if (fault) {
    const known = lookups.customFields.map((field) => field[target.by]);
    return [{ path: targetPath, ...unknownNameText(fault, { value: target.value, known }), origin }];
  }
  if ('code' in found) return [];
  const options = found.options.filter(({ disabled }) => !disabled).map(({ data }) => data);
  const read = customFieldReader(found, targetPath);
  return faultsOfConstants(constants(), { read, known: options, lookups });
}

function checkOf(field: PlainField, lookups: Lookups): Check {
  const things = {
    costCenterId: lookups.costCenters,
    billingProfileId: lookups.billingProfiles,
    travelPolicyId: lookups.travelPolicies,
  };
  const named = Object.entries(things).find(([name]) => name === field)?.[1] ?? [];
  const known = named.filter(({ archived }) => !archived).flatMap(({ name, id }) => [name, id]);
  return { read: field === 'managerId' ? readAnything : readers[field], known, lookups };
}

const readAnything: Reader = (value) => ({ value });

function faultsOfConstants(constants: Reading[], { read, known, lookups }: Check): NameFault[] {
  // A national phone number may be of any country: that depends on the address of each person.
  const context = { lookups, references: new Map(), applied: {}, phoneCountries: allPhoneCountries };
  // The collection has no transforms.
  const origin = 'file';
  return constants.flatMap((constant): NameFault[] => {
    if ('fault' in constant) {
      const { mappingPath } = constant.fault;
      return mappingPath === undefined
        ? []
        : [{ path: mappingPath, ...unknownNameText(constant.fault), origin }];
    }
    const { value, mappingPath } = constant;
    const reading = read(value, context);
    if (mappingPath === undefined || 'value' in reading) return [];
    return [{ path: mappingPath, ...unknownNameText(reading.fault, { value, known }), origin }];
  });
}

/** A fault in words for whoever writes the mapping, with what was likely meant. */
function unknownNameText(
  { code, reason, remedy, needsFreshLookups: isUnknown = false }: Fault,
  named?: { value: Json; known: string[] },
): Pick<NameFault, 'problem' | 'remedy' | 'isUnknown'> {
  if (!named) return { problem: clauseOf(ownReason(reason)), remedy: 'Correct the transforms.', isUnknown };
  const text = textIn(named.value);
  const problem = `${clauseOf(reason)}: ${JSON.stringify(text)}`;
  if (isUnknown) return { problem, remedy: remedyWith(text, named.known), isUnknown };
  const isOfTravelService = /(Ambiguous|Archived|Disabled|Type)$/.test(code);
  return { problem, remedy: isOfTravelService ? remedy : 'Correct the value.', isUnknown };
}

/** The reason without the place, which is told already. */
function ownReason(reason: string): string {
  return reason.replace(/^The mapping is at fault \(.*?\)\. /, '');
}

function remedyWith(text: string, known: string[]): string {
  if (known.length === 0) return 'Create it in the travel service, which has none yet.';
  const meant = nearest(text, known);
  if (meant !== undefined) return `Did you mean ${JSON.stringify(meant)}?`;
  const listed = known.slice(0, LISTED).map((name) => JSON.stringify(name));
  const more = known.length > LISTED ? ` and ${known.length - LISTED} more` : '';
  return `Known there: ${listed.join(', ')}${more}.`;
}

/** The text of a value, or of the one name in `{ "name": … }` or `{ "id": … }`. */
function textIn(value: Json): string {
  const [inner = value] = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return typeof inner === 'string' ? inner : JSON.stringify(inner);
}

/** `The profile is gone.` → `the profile is gone`. */
function clauseOf(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}
