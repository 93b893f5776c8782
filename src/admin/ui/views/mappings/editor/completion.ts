import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import schema from '../../../../../../config/mapping.schema.json' with { type: 'json' };
import type { Result } from '../../../requests/api.ts';
import { cursorAt, type Step } from './json-place.ts';

/** The names that a mapping can contain, as completions suggest them. */
export type MappingNames = Result<'listMappingNames'>;

/** The part of JSON Schema that the schema of mappings uses. */
interface Schema {
  type?: string;
  description?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
}

/** Finds the names of groups that begin with a text. */
export type FindGroups = (beginning: string) => Promise<string[]>;

/** Completes members and values of a mapping by its JSON Schema, and the names of SCIM attributes, groups and of the travel service. */
export function completeMapping(names: () => MappingNames | undefined, findGroups: FindGroups) {
  return ({
    state,
    pos,
    explicit,
  }: CompletionContext): CompletionResult | Promise<CompletionResult> | null => {
    const cursor = cursorAt(state, pos);
    if (!cursor) return null;
    const { kind, path, place, siblings, rule } = cursor;
    const group = namedGroupAt(state.sliceDoc(place.from, pos));
    if (kind === 'value' && group !== undefined)
      return completeGroup(findGroups, { group, pos, after: state.sliceDoc(pos, pos + 2) });
    if (!explicit && place.from === place.to) return null;
    const hasColon = kind === 'name' && /^\s*:/.test(state.sliceDoc(place.to, place.to + 20));
    const toResult = (options: Completion[]): CompletionResult => ({
      from: place.from,
      to: place.to,
      options: options.map((option) => toInsertion(option, kind === 'name' && !hasColon)),
      filter: true,
    });
    if (kind === 'name' && isMapOfGroups(path, rule)) {
      const begun = state.sliceDoc(place.from, pos).replace(/^"/, '');
      return findGroups(begun).then((found) => toResult(toConstants(found)));
    }
    return toResult(
      kind === 'name'
        ? membersAt(path).filter(({ label }) => !siblings.includes(label) || hasColon)
        : valuesAt(path, names(), rule),
    );
  };
}

/** Returns the beginning of the name of a group that a condition or a path in brackets compares, at the end of a JSON text. */
function namedGroupAt(text: string): string | undefined {
  const [, name] = /\bgroups(?:\[display|\.display) (?:eq|ne|sw|co|ew) \\"([^"\\]*)$/i.exec(text) ?? [];
  return name;
}

/** Completes the name of a group inside of a JSON text. Its quotes have a backslash in front. */
async function completeGroup(
  findGroups: FindGroups,
  { group, pos, after }: { group: string; pos: number; after: string },
): Promise<CompletionResult> {
  const found = await findGroups(group);
  const end = after === '\\"' ? '' : '\\"';
  const options = found.map((label) => ({ label, type: 'constant', apply: `${quotedTwice(label)}${end}` }));
  return { from: pos - group.length, to: pos, options, filter: true };
}

/** A text as it stands in a string of a filter that stands in a JSON text. */
function quotedTwice(text: string): string {
  const inner = (one: string) => JSON.stringify(one).slice(1, -1);
  return inner(inner(text));
}

/** True for the entries of a `map` whose rule reads the names of groups. */
function isMapOfGroups(path: Step[], rule: Record<string, unknown> | undefined): boolean {
  const { scimAttribute, sources } = rule ?? {};
  const read = [scimAttribute, sources].flat().map((one) => String(one).toLowerCase());
  return path.at(-1) === 'map' && read.includes('groups.display');
}

/** The label has its quotes, because the text that it is compared with has them. */
function toInsertion({ label, ...option }: Completion, withColon: boolean): Completion {
  const quoted = JSON.stringify(label);
  return { ...option, label: quoted, displayLabel: label, apply: withColon ? `${quoted}: ` : quoted };
}

/** The members that the schema allows in the object at a path. */
export function membersAt(path: Step[]): Completion[] {
  return schemasAt(path).flatMap(({ properties = {} }) =>
    Object.entries(properties).map(([label, { description }]) => ({
      ...{ label, type: 'property' },
      ...(description ? { info: description } : {}),
    })),
  );
}

/** The texts that can be the value of a member of a rule, each once. */
export function labelsAt(member: string, names: MappingNames | undefined): string[] {
  return [...new Set(valuesAt(['scimUserMapping', 0, member], names).map(({ label }) => label))];
}

/** A transform as the schema declares it: a word without an option, an object with one, or either of both. */
export interface TransformKind {
  name: string;
  description: string;
  /** `none`: a word only; `text`, `members` (each a text) or `map` (texts by texts): the option. */
  option: 'none' | 'text' | 'members' | 'map';
  /** True if the word alone is allowed too. */
  isWord: boolean;
  /** The members of the option, with their descriptions. */
  members: [name: string, description: string][];
}

/** Every transform that a rule can have. */
export function transformKinds(): TransformKind[] {
  const schemas = schemasAt(['scimUserMapping', 0, 'transforms', 0]);
  const words = schemas.flatMap((one) => one.enum ?? []);
  const options = schemas.flatMap(({ properties = {} }) => Object.entries(properties));
  const names = [...new Set([...words, ...options.map(([name]) => name)])];
  return names.map((name) => {
    const option = options.find(([one]) => one === name)?.[1];
    return {
      ...{
        name,
        description: option?.description ?? '',
        option: optionOf(option),
        isWord: words.includes(name),
      },
      members: Object.entries(option?.properties ?? {}).map(([one, { description = '' }]) => [
        one,
        description,
      ]),
    };
  });
}

function optionOf(option: Schema | undefined): TransformKind['option'] {
  if (!option) return 'none';
  if (option.properties) return 'members';
  return option.type === 'object' ? 'map' : 'text';
}

/** The texts that can stand at a path. `rule` is the rule that contains it. */
export function valuesAt(
  path: Step[],
  names: MappingNames | undefined,
  rule?: Record<string, unknown>,
): Completion[] {
  const listed = schemasAt(path).flatMap((one) => one.enum ?? []);
  const fixed = listed.map((label) => ({ label, type: 'enum' }));
  return names ? [...fixed, ...namesAt(path, names, rule)] : fixed;
}

function namesAt(path: Step[], names: MappingNames, rule: Record<string, unknown> = {}): Completion[] {
  const member = path.findLast((step) => typeof step === 'string');
  if (path.includes('transforms') ? isResultAt(path) : member === 'template')
    return toConstants(targetValues(rule, names));
  switch (member) {
    case 'scimAttribute':
    case 'sources':
      return names.scimAttributes.map(({ path: label, description }) => ({
        ...{ label, detail: description, type: 'variable' },
      }));
    case 'customField':
      return names.customFields.map(({ name, dataType }) => ({
        label: name,
        detail: dataType,
        type: 'constant',
      }));
    case 'customFieldId':
      return names.customFields.map(({ id, name }) => ({ label: id, detail: name, type: 'constant' }));
    case 'name':
      return toConstants(namesOfDefault(path, names));
    default:
      return [];
  }
}

function toConstants(labels: string[]): Completion[] {
  return labels.map((label) => ({ label, type: 'constant' }));
}

/** True for the values that the transforms `map` and `default` give. */
function isResultAt(path: Step[]): boolean {
  return path.at(-1) === 'default' || path.at(-2) === 'map';
}

/** The texts that the target of a rule takes, if they have names: resources of the travel service, options and roles. */
function targetValues(
  { userAttribute, customField, customFieldId }: Record<string, unknown>,
  names: MappingNames,
): string[] {
  const field = names.customFields.find(({ id, name }) => id === customFieldId || name === customField);
  if (field) return field.options;
  switch (userAttribute) {
    case 'costCenter':
    case 'costCenterId':
      return names.costCenters;
    case 'billingProfile':
    case 'billingProfileId':
      return names.billingProfiles;
    case 'travelPolicy':
    case 'travelPolicyId':
      return names.travelPolicies;
    case 'roles':
      return schemasAt(['roles', 'allow', 0]).flatMap((one) => one.enum ?? []);
    default:
      return [];
  }
}

function namesOfDefault(path: Step[], names: MappingNames): string[] {
  if (path.includes('costCenter')) return names.costCenters;
  if (path.includes('billingProfile')) return names.billingProfiles;
  return path.includes('travelPolicy') ? names.travelPolicies : [];
}

function schemasAt(path: Step[]): Schema[] {
  let found = alternatives(schema as unknown as Schema); // The imported type lists every member of this one file.
  for (const step of path) found = found.flatMap((one) => memberSchemas(one, step)).flatMap(alternatives);
  return found;
}

function alternatives(one: Schema): Schema[] {
  return one.anyOf ? one.anyOf.flatMap(alternatives) : [one];
}

function memberSchemas({ items, properties, additionalProperties }: Schema, step: Step): Schema[] {
  if (typeof step === 'number') return items ? [items] : [];
  const known = properties?.[step];
  if (known) return [known];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
}
