import { FAULTS, type Invalid } from '../errors.ts';
import { textOf } from '../json.ts';
import type { ResourceRef, StoredResource, TravelReading } from '../ports.ts';
import type { Change } from '../resource.ts';
import { item } from '../validation.ts';
import { MANDATORY, matcher, OPTION_DATA, optionKeys } from './custom-field.ts';
import {
  type CustomFieldValues,
  type FieldOwner,
  judge,
  type KeptValue,
  type Known,
  optionIds,
  valuesOf,
} from './custom-field-values.ts';

type Kept = { customFieldId: string; values: KeptValue[] };

/** A change as far as custom field values are concerned. */
type ValuesChange = Pick<Change, 'operation' | 'before' | 'wanted' | 'within'>;

/** The custom fields of a resource in the form in which they are kept, and what is wrong with those wanted. */
export async function checkedCustomFields(
  change: ValuesChange,
  resourceType: FieldOwner,
): Promise<{ customFields: Kept[]; invalid: Invalid[] }> {
  const wanted = valuesOf(change.wanted);
  // A field that is given again is refused, whatever it is given: it is neither looked up nor matched.
  const first = new Map<string, CustomFieldValues[number]>();
  for (const element of wanted) {
    if (!first.has(element.customFieldId)) first.set(element.customFieldId, element);
  }
  const known = { resourceType, ...(await knownFor([...first.values()], change.within)) };
  const kept = new Map(valuesOf(change.before).map(({ customFieldId, values }) => [customFieldId, values]));
  const customFields: Kept[] = [];
  const invalid: Invalid[] = [];
  for (const [position, element] of wanted.entries()) {
    if (invalid.length >= FAULTS) break;
    const { customFieldId } = element;
    const isFirst = first.get(customFieldId) === element;
    const { values, faults } = isFirst ? judge(element, known, kept.get(customFieldId) ?? []) : repeated;
    for (const { code, path, message } of faults.slice(0, FAULTS)) {
      invalid.push(item(code, ['customFields', position, ...path], change.wanted, message));
    }
    if (values.length > 0) customFields.push({ customFieldId, values });
  }
  if (invalid.length === 0) invalid.push(...(await missing(change, customFields, resourceType)));
  return { customFields, invalid };
}

const repeated = {
  values: [],
  faults: [{ code: 'duplicate', path: ['customFieldId'], message: 'is given twice' }],
};

/** The custom fields and options to which custom field values refer. */
export function customFieldReferences(values: CustomFieldValues): ResourceRef[] {
  return values.flatMap((element) => [
    { type: 'customField', id: element.customFieldId },
    ...optionIds(element).map((id) => ({ type: 'customFieldOption', id })),
  ]);
}

async function knownFor(
  wanted: CustomFieldValues,
  reading: TravelReading,
): Promise<Omit<Known, 'resourceType'>> {
  const matches = matcher();
  if (wanted.length === 0)
    return { fields: new Map(), options: new Map(), optionOf: () => undefined, matches };
  const refs = new Map(customFieldReferences(wanted).map((ref) => [`${ref.type} ${ref.id}`, ref]));
  const found = await reading.read([...refs.values()]);
  const keys = wanted.flatMap(({ customFieldId, values }) =>
    values.flatMap(({ data }) => (data === undefined ? [] : optionKeys(customFieldId, data))),
  );
  const index = { name: OPTION_DATA, values: [...new Set(keys)] };
  const byData = await reading.find({ type: 'customFieldOption', ...index });
  const options = new Map<string, StoredResource>();
  for (const option of byData) {
    const key = `${option.parentId}/${textOf(option.doc, 'data') ?? ''}`;
    // Older versions let two options have the same data: the oldest that can be assigned is meant.
    if (options.get(key)?.doc['disabled'] !== false) options.set(key, option);
  }
  return {
    fields: new Map(found.flatMap(({ type, id, doc }) => (type === 'customField' ? [[id, doc]] : []))),
    options: new Map(found.map((resource) => [resource.id, resource])),
    optionOf: (customFieldId, data) => options.get(`${customFieldId}/${data}`),
    matches,
  };
}

/** Mandatory fields are asked for when a resource is created or replaced; a PATCH must not take away one that has a value. */
async function missing(
  change: ValuesChange,
  customFields: Kept[],
  resourceType: FieldOwner,
): Promise<Invalid[]> {
  const given = new Set(customFields.map(({ customFieldId }) => customFieldId));
  const kept = new Set(valuesOf(change.before).map(({ customFieldId }) => customFieldId));
  const isAskedFor = (id: string) => !given.has(id) && (change.operation !== 'patch' || kept.has(id));
  if (change.operation === 'patch' && ![...kept].some(isAskedFor)) return [];
  const match = { type: 'customField', name: MANDATORY, values: [resourceType] };
  const mandatory = await change.within.find(match);
  return mandatory
    .filter(({ id }) => isAskedFor(id))
    .map(({ id, doc }) => {
      const message = `(the custom field "${textOf(doc, 'name')}") is mandatory`;
      return item('required', ['customFields', id], change.wanted, message);
    });
}
