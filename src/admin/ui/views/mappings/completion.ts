import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import schema from '../../../../../config/mapping.schema.json' with { type: 'json' };
import type { Result } from '../../api.ts';
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

/** Completes members and values of a mapping by its JSON Schema, and the names of SCIM attributes and of the travel service. */
export function completeMapping(names: () => MappingNames | undefined) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const cursor = cursorAt(state, pos);
    if (!cursor) return null;
    const { kind, path, place, siblings } = cursor;
    if (!explicit && place.from === place.to) return null;
    const hasColon = kind === 'name' && /^\s*:/.test(state.sliceDoc(place.to, place.to + 20));
    const options =
      kind === 'name'
        ? membersAt(path).filter(({ label }) => !siblings.includes(label) || hasColon)
        : valuesAt(path, names());
    return {
      from: place.from,
      to: place.to,
      options: options.map((option) => toInsertion(option, kind === 'name' && !hasColon)),
      filter: true,
    };
  };
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

/** The texts that can stand at a path. */
export function valuesAt(path: Step[], names: MappingNames | undefined): Completion[] {
  const listed = schemasAt(path).flatMap((one) => one.enum ?? []);
  const fixed = listed.map((label) => ({ label, type: 'enum' }));
  return names ? [...fixed, ...namesAt(path, names)] : fixed;
}

function namesAt(path: Step[], names: MappingNames): Completion[] {
  const member = path.findLast((step) => typeof step === 'string');
  const texts = (all: string[]) => all.map((label) => ({ label, type: 'constant' }));
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
      return texts(namesOfDefault(path, names));
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
