import { RE2JS } from 're2js';
import { type JsonObject, textOf } from '../json.ts';
import type { StoredResource } from '../ports.ts';
import type { CustomFieldValues } from './custom-field-values.ts';

/** What the values are judged by. */
export interface Known {
  fields: ReadonlyMap<string, JsonObject>;
  options: ReadonlyMap<string, StoredResource>;
  /** By field and data. */
  optionOf(customFieldId: string, data: string): StoredResource | undefined;
}

/** What is wrong, and where inside of the custom field value. */
export interface Fault {
  code: string;
  path: (string | number)[];
  message?: string;
}

type Value = CustomFieldValues[number]['values'][number];
type Verdict = { value: Value } | { fault: Fault };

/** The longest text value: with RE2 the time of a match is its length times the expression's. */
const TEXT = 1000;

/**
 * The values of one custom field in the form in which they are kept, and what is wrong with those given. What is kept
 * already may stay, though its field or option was disabled or its expression changed since.
 */
export function judge(
  { customFieldId, values }: CustomFieldValues[number],
  known: Known,
  kept: Value[],
): { values: Value[]; faults: Fault[] } {
  const field = known.fields.get(customFieldId);
  if (field?.['resourceType'] !== 'user') {
    const message = 'must be a custom field of users';
    return { values: [], faults: [{ code: 'reference', path: ['customFieldId'], message }] };
  }
  const isKept = (value: Value) => kept.some((other) => isSame(value, other));
  const verdicts = values.map((value) =>
    field['dataType'] === 'text'
      ? judgeText(value, field, isKept)
      : judgeOption(value, known, customFieldId, isKept),
  );
  const faults = verdicts.flatMap((verdict, position) =>
    'fault' in verdict ? [{ ...verdict.fault, path: ['values', position, ...verdict.fault.path] }] : [],
  );
  const accepted = distinct(verdicts.flatMap((verdict) => ('value' in verdict ? [verdict.value] : [])));
  faults.push(...judgeField(field, accepted, isKept));
  return { values: accepted, faults };
}

function judgeField(field: JsonObject, values: Value[], isKept: (value: Value) => boolean): Fault[] {
  const faults: Fault[] = [];
  if (values.length > 1 && field['dataType'] !== 'optionsList') {
    faults.push({ code: 'tooMany', path: ['values'], message: 'must have at most one value' });
  }
  if (field['disabled'] === true && !values.every(isKept)) {
    faults.push({ code: 'disabled', path: ['customFieldId'], message: 'is disabled' });
  }
  return faults;
}

function judgeText(
  { data, customFieldOptionId }: Value,
  field: JsonObject,
  isKept: (value: Value) => boolean,
): Verdict {
  if (customFieldOptionId !== undefined) {
    const message = 'is for fields with options only';
    return { fault: { code: 'reference', path: ['customFieldOptionId'], message } };
  }
  if (data === undefined || data === '') return { fault: { code: 'required', path: ['data'] } };
  if (isKept({ data }) || isMatch(data, textOf(field, 'validationRegexp'))) return { value: { data } };
  return {
    fault: { code: 'pattern', path: ['data'], message: 'does not match the expression of its field' },
  };
}

/** The whole value must match, in linear time whatever the expression (RE2). */
function isMatch(data: string, expression: string | undefined): boolean {
  return data.length <= TEXT && (expression === undefined || RE2JS.compile(expression).matches(data));
}

function judgeOption(
  { data, customFieldOptionId }: Value,
  known: Known,
  customFieldId: string,
  isKept: (value: Value) => boolean,
): Verdict {
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

function distinct(values: Value[]): Value[] {
  const byOption = new Map(values.map((value) => [value.customFieldOptionId ?? value, value]));
  return [...byOption.values()];
}

function isSame(one: Value, other: Value): boolean {
  return one.customFieldOptionId === other.customFieldOptionId && one.data === other.data;
}
