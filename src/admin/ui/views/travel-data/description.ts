import { fieldLabel as travelerLabel } from '../../../../model/value-texts.ts';
import type { TravelResource } from '../../requests/travel.ts';

/** A schema of the OpenAPI document, as far as the page reads it. */
export interface Schema {
  $ref?: string;
  type?: string;
  const?: string;
  enum?: string[];
  format?: string;
  description?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  items?: Schema;
  required?: string[];
  /** The type of the resource whose id this is. */
  'x-resource'?: string;
}

interface Described {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

type Content = Record<'application/json', { schema: Schema }>;

/** The description of the travel API by itself (OpenAPI). */
export interface OpenApi {
  paths: Record<string, Partial<Record<'get' | 'post' | 'patch' | 'delete', Described>>>;
  components: { schemas: Record<string, Schema> };
}

/** A type of resources, and what the API lets do with it. */
export interface Kind {
  /** E.g. `costCenter`. */
  type: string;
  /** E.g. `Cost centers`. */
  label: string;
  /** E.g. `cost center`. */
  one: string;
  /** The path of its list, without `/api`; `{id}` stands for the id of the resource to which the list belongs. */
  path: string;
  schema: Schema;
  /** The members that a client can write; undefined if the API only reads. */
  written: Schema | undefined;
  /** The parameters of its list, with their values if these are listed. */
  parameters: Map<string, string[]>;
  /** The lists below a resource of this type. */
  parts: { path: string; type: string }[];
}

/** Everything that the page knows of the travel API. */
export interface Description {
  kinds: Map<string, Kind>;
  /** Returns a schema in place of a reference to it. */
  resolve(schema: Schema): Schema;
}

/** Reads the types of resources from the API's own description. */
export function describeApi({ paths, components: { schemas } }: OpenApi): Description {
  const resolve = (schema: Schema) =>
    withEveryForm((schema.$ref && schemas[schema.$ref.replace('#/components/schemas/', '')]) || schema);
  const bodyOf = (content: Content | undefined) =>
    resolve(content?.['application/json'].schema.properties?.['data'] ?? {});
  const lists = Object.entries(paths).flatMap(([path, { get, post }]) => {
    if (!get?.operationId.startsWith('list')) return [];
    const schema = resolve(bodyOf(get.responses['200']?.content).items ?? {});
    return [{ path, get, post, schema, type: schema.properties?.['type']?.const ?? '' }];
  });
  const kinds = lists.flatMap(({ path, get, post, schema, type }): [string, Kind][] => {
    const retrieve = Object.entries(paths).find(
      ([other]) => other.startsWith(`${path}/{`) && !other.slice(path.length + 1).includes('/'),
    )?.[1].get;
    if (!retrieve) return [];
    const kind: Kind = {
      ...{ type, schema, path: path.replace('/api', ''), label: get.tags[0] ?? type },
      one: retrieve.summary.replace(/^Retrieve an? /, ''),
      written: post && bodyOf(post.requestBody?.content),
      parameters: new Map(get.parameters?.map(({ name, schema: { enum: values = [] } }) => [name, values])),
      parts: lists
        .filter((one) => one.path.startsWith(`${path}/{id}/`))
        .map((one) => ({ path: one.path.replace('/api', ''), type: one.type })),
    };
    return [[type, kind]];
  });
  return { kinds: new Map(kinds), resolve };
}

/** An object that has one of several forms, as one with the fields of all: a form shows them, and the API says which go together. */
function withEveryForm(schema: Schema): Schema {
  const [first, ...others] = schema.anyOf ?? [];
  if (!first?.properties) return schema;
  const required = first.required?.filter((name) => others.every((one) => one.required?.includes(name)));
  const properties = Object.assign({}, first.properties, ...others.map((one) => one.properties));
  return { ...first, properties, ...(required && { required }) };
}

/** The types that are in the navigation: those whose list belongs to no other resource. */
export function topKinds({ kinds }: Description): Kind[] {
  return [...kinds.values()].filter(({ path }) => !path.includes('{'));
}

/** The query of a list: by name where the API can, else the newest first. */
export function listQuery({ parameters }: Kind, search = ''): Record<string, string> {
  const sortBy = parameters.get('sortBy')?.find((field) => !['createdAt', 'date'].includes(field));
  return {
    ...(sortBy ? { sortBy } : { order: 'desc' }),
    ...(parameters.get('pageKind')?.includes('cursor') && { pageKind: 'cursor' }),
    ...(parameters.has('emails') && /^\S+@\S+\.\S+$/.test(search) && { emails: search }),
  };
}

/** The name of a field, e.g. `Cost center` for `costCenterId`: for one of a traveler that which the whole page has. */
export function fieldLabel(name: string): string {
  const known = travelerLabel(name, {});
  if (known !== name) return known;
  const words = name
    .replace(/(?<=\w)LocaleDate(?:Time)?$/, '')
    // A tax id is an id for people.
    .replace(/(?<=\w)(?<!^tax)Ids?$/, '')
    .replace(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`)
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The text by which people know a resource: its name, or what comes nearest to it. */
export function titleOf(resource: TravelResource | Record<string, unknown>): string {
  const { firstName, lastName, fullName, name, code, data, email, url, reference, kind } = resource;
  const person = [firstName, lastName].filter(Boolean).join(' ');
  const { description, scimAttribute, search, id } = resource;
  const { departurePlace, arrivalPlace, kind: searched } = Object(search);
  const places = [departurePlace, arrivalPlace].flatMap((place) => Object(place).name ?? []).join(' → ');
  const all = [
    ...[person, fullName, name, code, data, email, url, reference, description],
    ...[scimAttribute, places, searched, kind, id],
  ];
  return String(all.find((text) => typeof text === 'string' && text.trim() !== '') ?? '');
}
