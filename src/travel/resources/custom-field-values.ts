import { z } from 'zod';
import { text } from '../declaration/fields.ts';
import type { Change } from '../declaration/resource.ts';
import { type FieldFault, MAX_FAULTS } from '../errors.ts';
import { type JsonObject, stringMember } from '../json.ts';
import type { ResourceRef, StoredResource, TravelReader } from '../ports.ts';
import { fieldFault } from '../requests/validation.ts';
import {
  createMatcher,
  MANDATORY_INDEX,
  type Matcher,
  OPTION_DATA_INDEX,
  optionKey,
} from './custom-field.ts';

type StoredField = { customFieldId: string; values: StoredFieldValue[] };

/** The part of a change that concerns custom fields. */
type ValuesChange = Pick<Change, 'operation' | 'before' | 'wanted' | 'transaction'>;

/** Validates the custom fields of a change. Returns them in stored form, and the faults. */
export async function validateCustomFields(
  change: ValuesChange,
  resourceType: FieldOwner,
): Promise<{ customFields: StoredField[]; invalid: FieldFault[] }> {
  const wanted = customFieldsOf(change.wanted);
  // Only the first element for a field is looked up and matched; the others are refused as duplicates.
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

/** The references of custom field values to their fields and options. */
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
    values.flatMap(({ data }) => (data === undefined ? [] : [optionKey(customFieldId, data)])),
  );
  const index = { name: OPTION_DATA_INDEX, values: [...new Set(keys)] };
  const byData = await reader.find({ type: 'customFieldOption', ...index });
  const options = new Map(
    byData.map((option) => [`${option.parentId}/${stringMember(option.doc, 'data') ?? ''}`, option]),
  );
  return {
    fields: new Map(found.flatMap(({ type, id, doc }) => (type === 'customField' ? [[id, doc]] : []))),
    options: new Map(found.map((resource) => [resource.id, resource])),
    optionOf: (customFieldId, data) => options.get(`${customFieldId}/${data}`),
    matches,
  };
}

/**
 * Finds mandatory fields without a value. A create and a replace are checked completely; a PATCH only for fields whose
 * value it removes.
 */
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
 * Custom field values in a request. `name` and `displayName` are accepted, so that a response can be sent back, but
 * ignored: they belong to the field and its option.
 */
export const customFieldValues = z.array(
  z.strictObject({
    customFieldId: text.meta({ description: 'The id of a custom field', 'x-resource': 'customField' }),
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

/** Custom field values in a request or in a stored document. */
export type CustomFieldValues = z.infer<typeof customFieldValues>;

/** A value as stored: the text itself, or only the id of an option, whose data can change. */
export type StoredFieldValue = { data: string } | { customFieldOptionId: string };

/** The custom field values of a validated document. */
export function customFieldsOf(doc: JsonObject | undefined): CustomFieldValues {
  // The schema accepted this document when it was written, so its shape is known.
  return (doc?.['customFields'] ?? []) as CustomFieldValues;
}

/** Returns the documents with the current names and data of their custom fields and options. */
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

/** The ids of the options in the values of one custom field. */
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

/** The types that custom fields can be attached to. */
export type FieldOwner = 'tripProject' | 'user';

/** The data needed to validate custom field values. */
export interface FieldContext {
  /** The type that the fields must be attached to. */
  resourceType: FieldOwner;
  fields: ReadonlyMap<string, JsonObject>;
  options: ReadonlyMap<string, StoredResource>;
  /** Finds an option by its field and data. */
  optionOf(customFieldId: string, data: string): StoredResource | undefined;
  matches: Matcher;
}

/** An invalid value, with its path inside the custom field element. */
export interface ValueFault {
  code: string;
  path: (string | number)[];
  message?: string;
}

type Value = CustomFieldValues[number]['values'][number];
type Validation = { value: StoredFieldValue } | { fault: ValueFault };

const ownerNames = { tripProject: 'trip projects', user: 'users' };

/**
 * Validates the values of one custom field. Returns them in stored form, and the faults. A value that is already stored
 * is accepted even if its field or option has been disabled, or the expression changed, since.
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
  // Checked before matching, because matching a thousand texts would block other requests.
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

/** Stored values have a single form, so they can be compared as JSON text. */
function storedValueTest(kept: Value[]): (value: StoredFieldValue) => boolean {
  const texts = new Set(kept.map((value) => JSON.stringify(value)));
  return (value) => texts.has(JSON.stringify(value));
}

function distinctValues(values: StoredFieldValue[]): StoredFieldValue[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
