import { z } from 'zod';
import { type FieldFault, MAX_FAULTS } from '../errors.ts';
import { text } from '../fields.ts';
import { type JsonObject, stringMember } from '../json.ts';
import type { ResourceRef, StoredResource, TravelReader } from '../ports.ts';
import type { Change } from '../resource.ts';
import { fieldFault } from '../validation.ts';
import {
  createMatcher,
  MANDATORY_INDEX,
  type Matcher,
  OPTION_DATA_INDEX,
  optionKeys,
} from './custom-field.ts';

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
  reader: TravelReader,
): Promise<Omit<FieldContext, 'resourceType'>> {
  const matches = createMatcher();
  if (wanted.length === 0)
    return { fields: new Map(), options: new Map(), optionOf: () => undefined, matches };
  const refs = new Map(customFieldReferences(wanted).map((ref) => [`${ref.type} ${ref.id}`, ref]));
  const found = await reader.read([...refs.values()]);
  const keys = wanted.flatMap(({ customFieldId, values }) =>
    values.flatMap(({ data }) => (data === undefined ? [] : optionKeys(customFieldId, data))),
  );
  const index = { name: OPTION_DATA_INDEX, values: [...new Set(keys)] };
  const byData = await reader.find({ type: 'customFieldOption', ...index });
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

/**
 * Custom field values as they come in. `name` and `displayName` may come back as they were answered, but are not
 * taken: they belong to the field and its option.
 */
export const customFieldValues = z.array(
  z.strictObject({
    customFieldId: text.meta({ description: 'The id of a custom field' }),
    name: text.optional().meta({ readOnly: true }),
    values: z.array(
      z.strictObject({
        customFieldOptionId: text.optional().meta({ description: 'For fields with options only' }),
        data: text.optional().meta({ description: 'The text, or the data of the option' }),
        displayName: text.optional().meta({ readOnly: true }),
      }),
    ),
  }),
);

/** Custom field values as they come in, or are kept. */
export type CustomFieldValues = z.infer<typeof customFieldValues>;

/** A value as it is kept: the data of a text, or the id of an option, whose data may change. */
export type StoredFieldValue = { data: string } | { customFieldOptionId: string };

/** The custom field values of a document, which its schema has accepted. */
export function customFieldsOf(doc: JsonObject | undefined): CustomFieldValues {
  // The document went through the schema when it was written: this is a matter of types only.
  return (doc?.['customFields'] ?? []) as CustomFieldValues;
}

/** Documents with the names and data of their custom fields and options as these are now. */
export async function serializeCustomFields(
  resources: StoredResource[],
  reader: TravelReader,
): Promise<JsonObject[]> {
  const given = resources.flatMap(({ doc }) => customFieldsOf(doc));
  if (given.length === 0) return resources.map(({ doc }) => doc);
  const fields = await documentsById(
    reader,
    'customField',
    given.map(({ customFieldId }) => customFieldId),
  );
  const options = await documentsById(reader, 'customFieldOption', given.flatMap(optionIds));
  const present = (value: CustomFieldValues[number]['values'][number]): JsonObject => {
    const { customFieldOptionId: id, data } = value;
    if (id === undefined) return { data: data ?? '' };
    const { data: chosen = '', displayName } = options.get(id) ?? {};
    return { customFieldOptionId: id, data: chosen, ...(displayName === undefined ? {} : { displayName }) };
  };
  return resources.map(({ doc }) => {
    if (doc['customFields'] === undefined) return doc;
    const customFields = customFieldsOf(doc).map(({ customFieldId, values }) => ({
      customFieldId,
      name: fields.get(customFieldId)?.['name'] ?? '',
      values: values.map(present),
    }));
    return { ...doc, customFields };
  });
}

/** The options that one custom field's values name. */
export function optionIds({ values }: CustomFieldValues[number]): string[] {
  return values.flatMap(({ customFieldOptionId }) => customFieldOptionId ?? []);
}

async function documentsById(
  reader: TravelReader,
  type: string,
  ids: string[],
): Promise<Map<string, JsonObject>> {
  const found = await reader.read([...new Set(ids)].map((id) => ({ type, id })));
  return new Map(found.map(({ id, doc }) => [id, doc]));
}

/** What custom fields are attached to. */
export type FieldOwner = 'tripProject' | 'user';

/** What the values are judged by. */
export interface FieldContext {
  /** Whose fields they must be. */
  resourceType: FieldOwner;
  fields: ReadonlyMap<string, JsonObject>;
  options: ReadonlyMap<string, StoredResource>;
  /** By field and data. */
  optionOf(customFieldId: string, data: string): StoredResource | undefined;
  matches: Matcher;
}

/** What is wrong, and where inside of the custom field value. */
export interface ValueFault {
  code: string;
  path: (string | number)[];
  message?: string;
}

type Value = CustomFieldValues[number]['values'][number];
type Validation = { value: StoredFieldValue } | { fault: ValueFault };

const ownerNames = { tripProject: 'trip projects', user: 'users' };

/**
 * The values of one custom field in the form in which they are kept, and what is wrong with those given. What is kept
 * already may stay, though its field or option was disabled or its expression changed since.
 */
export function validateFieldValues(
  { customFieldId, values }: CustomFieldValues[number],
  known: FieldContext,
  kept: Value[],
): { values: StoredFieldValue[]; faults: ValueFault[] } {
  const field = known.fields.get(customFieldId);
  if (field?.['resourceType'] !== known.resourceType) {
    const message = `must be a custom field of ${ownerNames[known.resourceType]}`;
    return { values: [], faults: [{ code: 'reference', path: ['customFieldId'], message }] };
  }
  // Before anything is matched: a thousand texts would keep everybody waiting.
  if (field['dataType'] === 'text' && new Set(values.map(({ data }) => data)).size > 1) {
    return { values: [], faults: [tooManyFault()] };
  }
  const isKept = storedValueTest(kept);
  const verdicts = values.map((value) =>
    field['dataType'] === 'text'
      ? validateText(value, field, { isKept, matches: known.matches })
      : validateOption(value, known, customFieldId, isKept),
  );
  const faults = verdicts.flatMap((verdict, position) =>
    'fault' in verdict ? [{ ...verdict.fault, path: ['values', position, ...verdict.fault.path] }] : [],
  );
  const accepted = distinctValues(verdicts.flatMap((verdict) => ('value' in verdict ? [verdict.value] : [])));
  if (accepted.length > 1 && field['dataType'] !== 'optionsList') {
    faults.push(tooManyFault());
  }
  const isNew = faults.length > 0 || !accepted.every(isKept);
  if (field['disabled'] === true && isNew) {
    faults.push({ code: 'disabled', path: ['customFieldId'], message: 'is disabled' });
  }
  return { values: accepted, faults };
}

function tooManyFault(): ValueFault {
  return { code: 'tooMany', path: ['values'], message: 'must have at most one value' };
}

function validateText(
  { data, customFieldOptionId }: Value,
  field: JsonObject,
  { isKept, matches }: { isKept: (value: StoredFieldValue) => boolean; matches: Matcher },
): Validation {
  if (customFieldOptionId !== undefined) {
    const message = 'is for fields with options only';
    return { fault: { code: 'reference', path: ['customFieldOptionId'], message } };
  }
  if (data === undefined || data === '') return { fault: { code: 'required', path: ['data'] } };
  if (isKept({ data }) || matches(data, stringMember(field, 'validationRegexp'))) return { value: { data } };
  return {
    fault: { code: 'pattern', path: ['data'], message: 'does not match the expression of its field' },
  };
}

function validateOption(
  { data, customFieldOptionId }: Value,
  known: FieldContext,
  customFieldId: string,
  isKept: (value: StoredFieldValue) => boolean,
): Validation {
  const named = customFieldOptionId ?? data;
  if (named === undefined) return { fault: { code: 'required', path: ['data'] } };
  const option =
    customFieldOptionId === undefined
      ? known.optionOf(customFieldId, named)
      : known.options.get(customFieldOptionId);
  const path = [customFieldOptionId === undefined ? 'data' : 'customFieldOptionId'];
  if (option?.parentId !== customFieldId) {
    return { fault: { code: 'reference', path, message: 'must name an option of its field' } };
  }
  const value = { customFieldOptionId: option.id };
  if (option.doc['disabled'] === true && !isKept(value)) {
    return { fault: { code: 'disabled', path, message: 'names an option that is disabled' } };
  }
  return { value };
}

/** Values are kept in one form only, so that their text tells them apart. */
function storedValueTest(kept: Value[]): (value: StoredFieldValue) => boolean {
  const texts = new Set(kept.map((value) => JSON.stringify(value)));
  return (value) => texts.has(JSON.stringify(value));
}

function distinctValues(values: StoredFieldValue[]): StoredFieldValue[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
