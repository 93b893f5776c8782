import type { Invalid } from '../errors.ts';
import { textOf } from '../json.ts';
import type { ResourceRef, StoredResource, TravelReading } from '../ports.ts';
import type { Change } from '../resource.ts';
import { item } from '../validation.ts';
import { MANDATORY } from './custom-field.ts';
import { OPTION_DATA, optionKey } from './custom-field-option.ts';
import { type CustomFieldValues, type KeptValue, optionIds, valuesOf } from './custom-field-values.ts';
import { type FieldOwner, judge, type Known } from './custom-field-verdict.ts';

type Kept = { customFieldId: string; values: KeptValue[] };

/** A change as far as custom field values are concerned. */
type ValuesChange = Pick<Change, 'operation' | 'before' | 'wanted' | 'within'>;

/** The custom fields of a resource in the form in which they are kept, and what is wrong with those wanted. */
export async function checkedCustomFields(
  change: ValuesChange,
  resourceType: FieldOwner,
): Promise<{ customFields: Kept[]; invalid: Invalid[] }> {
  const wanted = valuesOf(change.wanted);
  const known = { resourceType, ...(await knownFor(wanted, change.within)) };
  const kept = new Map(valuesOf(change.before).map(({ customFieldId, values }) => [customFieldId, values]));
  const seen = new Set<string>();
  const invalid: Invalid[] = [];
  const customFields = wanted.flatMap((element, position) => {
    const { customFieldId } = element;
    const { values, faults } = judge(element, known, kept.get(customFieldId) ?? []);
    if (seen.has(customFieldId)) {
      faults.push({ code: 'duplicate', path: ['customFieldId'], message: 'is given twice' });
    }
    seen.add(customFieldId);
    for (const { code, path, message } of faults) {
      invalid.push(item(code, ['customFields', position, ...path], change.wanted, message));
    }
    return values.length === 0 ? [] : [{ customFieldId, values }];
  });
  if (invalid.length === 0) invalid.push(...(await missing(change, customFields, resourceType)));
  return { customFields, invalid };
}

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
  if (wanted.length === 0) return { fields: new Map(), options: new Map(), optionOf: () => undefined };
  const refs = customFieldReferences(wanted);
  const found = await reading.read(refs);
  const keys = wanted.flatMap(({ customFieldId, values }) =>
    values.flatMap(({ data }) => (data === undefined ? [] : [optionKey(customFieldId, data)])),
  );
  const byData = await reading.find({ type: 'customFieldOption', name: OPTION_DATA, values: keys });
  const options = new Map<string, StoredResource>();
  for (const option of byData) {
    const key = optionKey(option.parentId, textOf(option.doc, 'data') ?? '');
    // Nothing keeps two options from having the same data: the oldest that can be assigned is meant.
    if (options.get(key)?.doc['disabled'] !== false) options.set(key, option);
  }
  return {
    fields: new Map(found.flatMap(({ type, id, doc }) => (type === 'customField' ? [[id, doc]] : []))),
    options: new Map(found.map((resource) => [resource.id, resource])),
    optionOf: (customFieldId, data) => options.get(optionKey(customFieldId, data)),
  };
}

/** Mandatory fields are asked for when a resource is created or replaced, not when a part is changed. */
async function missing(
  change: ValuesChange,
  customFields: Kept[],
  resourceType: FieldOwner,
): Promise<Invalid[]> {
  if (change.operation === 'patch') return [];
  const given = new Set(customFields.map(({ customFieldId }) => customFieldId));
  const match = { type: 'customField', name: MANDATORY, values: [resourceType] };
  const mandatory = await change.within.find(match);
  return mandatory
    .filter(({ id }) => !given.has(id))
    .map(({ id, doc }) => {
      const message = `(the custom field "${textOf(doc, 'name')}") is mandatory`;
      return item('required', ['customFields', id], change.wanted, message);
    });
}
