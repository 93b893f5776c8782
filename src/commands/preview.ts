import { resolve } from 'node:path';
import { readLookups, readManagers } from '../beside.ts';
import { readMapping, readSettings } from '../config.ts';
import { readJsonFile } from '../json-file.ts';
import { SchemaFault } from '../schema/fault.ts';
import { normalize } from '../schema/normalize.ts';
import type { JsonObject } from '../schema/resource.ts';
import { userType } from '../schema/resource-type.ts';
import { type Fault, SettingsFault } from '../settings-fault.ts';
import { previewText } from '../translator/preview.ts';
import { compileRules } from '../translator/rules.ts';
import { toTravel } from '../translator/to-travel.ts';
import { failureText } from './failure.ts';
import type { Shell } from './shell.ts';

/** Shows what a SCIM user becomes in the travel service, rule by rule, with the lookups as they are there now. */
export async function preview(shell: Shell, options: { input: string; mapping?: string }): Promise<0 | 1> {
  const settings = readSettings(shell.environment, shell.home);
  const connection = settings.connections.find(({ id }) => id === 'default') ?? settings.connections[0];
  const faults: Fault[] = [];
  const mapping = options.mapping ? readMapping(resolve(options.mapping), faults) : connection?.mapping;
  if (!connection || !mapping) throw new SettingsFault(faults);
  const user = readUser(options.input);
  if ('fault' in user) {
    shell.complain(`${options.input}: ${user.fault}`);
    return 1;
  }
  const lookups = await readLookups(settings, connection);
  if (lookups.kind !== 'ok') {
    shell.complain(`No names or custom fields can be looked up in the travel API: ${failureText(lookups)}.`);
    return 1;
  }
  const rules = compileRules(mapping, lookups.value.scimUserMappings);
  const references = await readManagers(settings, connection, { rules, user: user.resource });
  shell.print(previewText(toTravel(rules, user.resource, { lookups: lookups.value, references })));
  return 0;
}

function readUser(file: string): { resource: JsonObject } | { fault: string } {
  const read = readJsonFile(file);
  if (!('json' in read)) return { fault: `${read.problem}. ${read.remedy}` };
  const { json } = read;
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return { fault: 'must hold one JSON object, the SCIM user.' };
  try {
    return { resource: normalize(userType, json as JsonObject).resource };
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    return { fault: error.message };
  }
}
