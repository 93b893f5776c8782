import type { AppliedField, CustomField } from '../../model/translation.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { isObject } from '../../schema/resource.ts';
import { readText } from '../values/readers.ts';
import { compileForeignPattern, MAX_PATTERN_TEXT } from '../values/transforms.ts';
import {
  type Fault,
  notInLookups,
  type Reader,
  toText,
  unresolved,
  unusable,
  withMappingPath,
} from '../values/values.ts';
import type { Target } from './rules.ts';

/** The custom field that a rule sets, as the rule names it. */
export type CustomFieldTarget = Extract<Target, { kind: 'customField' }>;

/** Finds the custom field that a rule sets: by id, by exact name, or by name without case. */
export function findCustomField(
  { by, value }: CustomFieldTarget,
  fields: CustomField[],
): CustomField | Fault {
  const found = by === 'id' ? fields.filter(({ id }) => id === value) : fieldsWithName(value, fields);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (only) {
    const reason = `Several custom fields of the travel service are called "${value}".`;
    return unresolved('customFieldAmbiguous', reason, 'Name the custom field by its id in the mapping.')
      .fault;
  }
  const reason = `The travel service has no custom field ${by === 'id' ? value : `called "${value}"`}.`;
  const remedy = 'Create the custom field for users in the travel service, or correct the mapping.';
  return notInLookups('customFieldUnknown', reason, remedy).fault;
}

function fieldsWithName(name: string, fields: CustomField[]): CustomField[] {
  const exact = fields.filter((field) => field.name === name);
  const wanted = foldCase(name);
  return exact.length > 0 ? exact : fields.filter((field) => foldCase(field.name) === wanted);
}

const remedyDisabled = 'Enable it in the travel service, or take the rule or the value away.';

/**
 * Makes the reader of a custom field. `targetPath` is the place in the mapping to which faults of the field itself
 * refer.
 */
export function customFieldReader(field: CustomField, targetPath: string): Reader {
  const fault = customFieldFault(field);
  if (fault) {
    const reading = { fault: withMappingPath(fault, targetPath, fault.remedy) };
    return () => reading;
  }
  if (field.dataType === 'text') return textReader(field);
  return optionReader(field);
}

/** Returns the fault for which a custom field accepts no value at all, e.g. because it is disabled; undefined if it accepts values. */
export function customFieldFault({ name, disabled, dataType }: CustomField): Fault | undefined {
  if (disabled) {
    const reason = `The custom field "${name}" is disabled.`;
    return unresolved('customFieldDisabled', reason, remedyDisabled).fault;
  }
  if (dataTypes.includes(dataType)) return undefined;
  const reason = `The custom field "${name}" is of the unknown type ${dataType}.`;
  return unusable('customFieldType', reason, 'Map the attribute to a custom field of text or options.').fault;
}

const dataTypes = ['text', 'option', 'optionsList'];

/**
 * Checks texts against `validationRegexp`. A pattern that RE2 cannot compile or that is too large is ignored, and so is a text that is too
 * long, because the travel API checks values, too.
 */
function textReader({ name, validationRegexp }: CustomField): Reader {
  const pattern = validationRegexp === undefined ? undefined : compileForeignPattern(validationRegexp);
  return (raw) => {
    const reading = readText(raw);
    if (!('value' in reading) || typeof reading.value !== 'string') return reading;
    const isAccepted = !pattern || reading.value.length > MAX_PATTERN_TEXT || pattern.matches(reading.value);
    if (isAccepted) return { value: [{ data: reading.value }] };
    return unusable(
      'customFieldPattern',
      `The custom field "${name}" takes only values that match ${validationRegexp}.`,
      'Correct the value in the identity provider, or transform it in the mapping.',
    );
  };
}

/**
 * Checks options by their texts. If the source value is the same as for the applied option, that option stays as long as it exists:
 * renaming an option changes no traveler.
 */
function optionReader({ id: fieldId, name, options }: CustomField): Reader {
  const find = optionFinder(options);
  const ids = new Set(options.map(({ id }) => id));
  return (raw, { applied }) => {
    const text = toText(raw);
    if (text === undefined) return readText(raw);
    const option = find(text);
    const before = appliedOptions(applied[`customFields.${fieldId}`]).get(text);
    if (before !== undefined && before !== option?.id && ids.has(before))
      return { value: [{ customFieldOptionId: before }] };
    if (!option) {
      const remedy = 'Add the option in the travel service, or correct the value in the identity provider.';
      return notInLookups('optionUnknown', `The custom field "${name}" has no such option.`, remedy);
    }
    if (!option.disabled) return { value: [{ customFieldOptionId: option.id }] };
    return unresolved(
      'optionDisabled',
      `This option of the custom field "${name}" is disabled.`,
      remedyDisabled,
    );
  };
}

type Option = CustomField['options'][number];

/**
 * Returns the option of each source value of an applied field. It is unknown which value gave which option if values of the source had
 * none, or several the same.
 */
function appliedOptions(applied: AppliedField | undefined): ReadonlyMap<string, string> {
  const sources = Array.isArray(applied?.source) ? applied.source : [applied?.source];
  const sent = Array.isArray(applied?.sent) ? applied.sent : [];
  if (sources.length !== sent.length) return noOptions;
  return new Map(
    sources.flatMap((source, index) => {
      const [text, option] = [toText(source), sent[index]];
      const id = isObject(option) ? option.customFieldOptionId : undefined;
      return text !== undefined && typeof id === 'string' ? [[text, id]] : [];
    }),
  );
}

const noOptions: ReadonlyMap<string, string> = new Map();

/**
 * Makes a function that finds the option with a text: an exact match wins over one without case, an enabled option over
 * a disabled one, then the lowest id.
 */
function optionFinder(options: Option[]): (text: string) => Option | undefined {
  const exact = new Map<string, Option>();
  const folded = new Map<string, Option>();
  for (const option of options) {
    const text = toText(option.data) ?? option.data;
    addPreferred(exact, text, option);
    addPreferred(folded, foldCase(text), option);
  }
  return (text) => exact.get(text) ?? folded.get(foldCase(text));
}

function addPreferred(options: Map<string, Option>, text: string, option: Option): void {
  const other = options.get(text);
  const isPreferred = !other || (other.disabled === option.disabled ? option.id < other.id : other.disabled);
  if (isPreferred) options.set(text, option);
}
