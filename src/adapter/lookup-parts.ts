import type { TravelAnswer } from '../bridge/ports.ts';
import type { CustomField, Lookups, Named, ScimUserMapping } from '../translator/snapshot.ts';
import { record, text, texts } from './fields.ts';
import type { TravelPaths } from './paths.ts';

/** How each part of the lookups is read from the travel API. */
export type LookupParts = { [Part in keyof Lookups]: () => Promise<TravelAnswer<Lookups[Part]>> };

/** Reads a whole collection, which belongs to a part of the lookups. */
export type ReadAll = <T>(
  part: keyof Lookups,
  path: string,
  read: (item: unknown) => T | undefined,
) => Promise<TravelAnswer<T[]>>;

/** The readings of one travel account. */
export function lookupParts(readAll: ReadAll, paths: TravelPaths): LookupParts {
  return {
    customFields: () => readCustomFields(readAll, paths),
    costCenters: () => readAll('costCenters', paths.costCenters, readNamed),
    billingProfiles: () => readAll('billingProfiles', paths.billingProfiles, readNamed),
    travelPolicies: () => readAll('travelPolicies', paths.travelPolicies, readNamed),
    scimUserMappings: () => readAll('scimUserMappings', paths.scimUserMappings, readMapping),
  };
}

/** Those of users only, with the options of those that have any. */
async function readCustomFields(readAll: ReadAll, paths: TravelPaths): Promise<TravelAnswer<CustomField[]>> {
  const fields = await readAll('customFields', paths.customFields, readCustomField);
  if (fields.kind !== 'ok') return fields;
  const answers = await Promise.all(fields.value.map((field) => withOptions(readAll, paths, field)));
  const value: CustomField[] = [];
  for (const answer of answers) {
    if (answer.kind !== 'ok') return answer;
    value.push(answer.value);
  }
  return { kind: 'ok', value };
}

async function withOptions(
  readAll: ReadAll,
  paths: TravelPaths,
  field: CustomField,
): Promise<TravelAnswer<CustomField>> {
  if (field.dataType === 'text') return { kind: 'ok', value: field };
  const path = paths.customFieldOptions.replace('{id}', encodeURIComponent(field.id));
  const options = await readAll('customFields', path, readOption);
  return options.kind === 'ok' ? { kind: 'ok', value: { ...field, options: options.value } } : options;
}

function readCustomField(value: unknown): CustomField | undefined {
  const source = record(value);
  const { id, name, dataType, validationRegexp } = members(source, [
    'id',
    'name',
    'dataType',
    'validationRegexp',
  ]);
  if (id === undefined || name === undefined || dataType === undefined) return undefined;
  if (source?.resourceType !== undefined && source.resourceType !== 'user') return undefined;
  const pattern = validationRegexp === undefined ? {} : { validationRegexp };
  return { id, name, dataType, disabled: source?.disabled === true, ...pattern, options: [] };
}

function readOption(value: unknown): CustomField['options'][number] | undefined {
  const source = record(value);
  const { id, data } = members(source, ['id', 'data']);
  if (id === undefined || data === undefined) return undefined;
  return { id, data, disabled: source?.disabled === true };
}

function readNamed(value: unknown): Named | undefined {
  const source = record(value);
  const { id, name } = members(source, ['id', 'name']);
  if (id === undefined || name === undefined) return undefined;
  return { id, name, archived: source?.archived === true };
}

function readMapping(value: unknown): ScimUserMapping | undefined {
  const source = record(value);
  const scimAttribute = text(source?.scimAttribute);
  if (scimAttribute === undefined) return undefined;
  return { scimAttribute, ...members(source, ['customFieldId', 'userAttribute']) };
}

function members<Name extends string>(
  source: Record<string, unknown> | undefined,
  names: readonly Name[],
): { [N in Name]?: string } {
  return source ? texts(source, names) : {};
}
