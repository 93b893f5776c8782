import { type FieldFault, MAX_FAULTS } from '../errors.ts';
import { stringMember } from '../json.ts';
import type { ResourceRef, StoredResource, TravelReader } from '../ports.ts';
import type { Change } from '../resource.ts';
import { fieldFault } from '../validation.ts';
import { createMatcher, MANDATORY_INDEX, OPTION_DATA_INDEX, optionKeys } from './custom-field.ts';
import {
  type CustomFieldValues,
  customFieldsOf,
  type FieldContext,
  type FieldOwner,
  optionIds,
  type StoredFieldValue,
  validateFieldValues,
} from './custom-field-values.ts';

type StoredField = { customFieldId: string; values: StoredFieldValue[] };

/** A change as far as custom field values are concerned. */
type ValuesChange = Pick<Change, 'operation' | 'before' | 'wanted' | 'transaction'>;

/** The custom fields of a resource in the form in which they are kept, and what is wrong with those wanted. */
export async function validateCustomFields(
  change: ValuesChange,
  resourceType: FieldOwner,
): Promise<{ customFields: StoredField[]; invalid: FieldFault[] }> {
  const wanted = customFieldsOf(change.wanted);
  // A field that is given again is refused, whatever it is given: it is neither looked up nor matched.
  const first = new Map<string, CustomFieldValues[number]>();
  for (const element of wanted) {
    if (!first.has(element.customFieldId)) first.set(element.customFieldId, element);
  }
  const known = { resourceType, ...(await loadFieldContext([...first.values()], change.transaction)) };
  const kept = new Map(
    customFieldsOf(change.before).map(({ customFieldId, values }) => [customFieldId, values]),
  );
  const customFields: StoredField[] = [];
  const invalid: FieldFault[] = [];
  for (const [position, element] of wanted.entries()) {
    if (invalid.length >= MAX_FAULTS) break;
    const { customFieldId } = element;
    const isFirst = first.get(customFieldId) === element;
    const { values, faults } = isFirst
      ? validateFieldValues(element, known, kept.get(customFieldId) ?? [])
      : repeated;
    for (const { code, path, message } of faults.slice(0, MAX_FAULTS)) {
      invalid.push(fieldFault(code, ['customFields', position, ...path], change.wanted, message));
    }
    if (values.length > 0) customFields.push({ customFieldId, values });
  }
  if (invalid.length === 0)
    invalid.push(...(await missingMandatoryFields(change, customFields, resourceType)));
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

async function loadFieldContext(
  wanted: CustomFieldValues,
  reading: TravelReader,
): Promise<Omit<FieldContext, 'resourceType'>> {
  const matches = createMatcher();
  if (wanted.length === 0)
    return { fields: new Map(), options: new Map(), optionOf: () => undefined, matches };
  const refs = new Map(customFieldReferences(wanted).map((ref) => [`${ref.type} ${ref.id}`, ref]));
  const found = await reading.read([...refs.values()]);
  const keys = wanted.flatMap(({ customFieldId, values }) =>
    values.flatMap(({ data }) => (data === undefined ? [] : optionKeys(customFieldId, data))),
  );
  const index = { name: OPTION_DATA_INDEX, values: [...new Set(keys)] };
  const byData = await reading.find({ type: 'customFieldOption', ...index });
  const options = new Map<string, StoredResource>();
  for (const option of byData) {
    const key = `${option.parentId}/${stringMember(option.doc, 'data') ?? ''}`;
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
async function missingMandatoryFields(
  change: ValuesChange,
  customFields: StoredField[],
  resourceType: FieldOwner,
): Promise<FieldFault[]> {
  const given = new Set(customFields.map(({ customFieldId }) => customFieldId));
  const kept = new Set(customFieldsOf(change.before).map(({ customFieldId }) => customFieldId));
  const isAskedFor = (id: string) => !given.has(id) && (change.operation !== 'patch' || kept.has(id));
  if (change.operation === 'patch' && ![...kept].some(isAskedFor)) return [];
  const match = { type: 'customField', name: MANDATORY_INDEX, values: [resourceType] };
  const mandatory = await change.transaction.find(match);
  return mandatory
    .filter(({ id }) => isAskedFor(id))
    .map(({ id, doc }) => {
      const message = `(the custom field "${stringMember(doc, 'name')}") is mandatory`;
      return fieldFault('required', ['customFields', id], change.wanted, message);
    });
}
