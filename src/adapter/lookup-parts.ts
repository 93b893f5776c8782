import type { TravelAnswer } from '../bridge/ports.ts';
import type { CustomField, Lookups, Named, ScimUserMapping } from '../translator/snapshot.ts';
import type { TravelClient } from './client.ts';
import { all } from './collection.ts';
import { record, text, texts } from './fields.ts';
import type { TravelPaths } from './paths.ts';

/** How each part of the lookups is read from the travel API. */
export type LookupParts = { [Part in keyof Lookups]: () => Promise<TravelAnswer<Lookups[Part]>> };

/** The readings of one travel account. */
export function lookupParts(client: TravelClient, paths: TravelPaths): LookupParts {
  return {
    customFields: () => readCustomFields(client, paths),
    costCenters: () => all(client, paths.costCenters, readNamed),
    billingProfiles: () => all(client, paths.billingProfiles, readNamed),
    travelPolicies: () => all(client, paths.travelPolicies, readNamed),
    scimUserMappings: () => all(client, paths.scimUserMappings, readMapping),
  };
}

/** Those of users only, with the options of those that have any. */
async function readCustomFields(
  client: TravelClient,
  paths: TravelPaths,
): Promise<TravelAnswer<CustomField[]>> {
  const fields = await all(client, paths.customFields, readCustomField);
  if (fields.kind !== 'ok') return fields;
  const answers = await Promise.all(fields.value.map((field) => withOptions(client, paths, field)));
  const value: CustomField[] = [];
  for (const answer of answers) {
    if (answer.kind !== 'ok') return answer;
    value.push(answer.value);
  }
  return { kind: 'ok', value };
}

async function withOptions(
  client: TravelClient,
  paths: TravelPaths,
  field: CustomField,
): Promise<TravelAnswer<CustomField>> {
  if (field.dataType === 'text') return { kind: 'ok', value: field };
  const path = paths.customFieldOptions.replace('{id}', encodeURIComponent(field.id));
  const options = await all(client, path, readOption);
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
