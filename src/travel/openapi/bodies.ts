import { z } from 'zod';
import type { Resource } from '../declaration/resource.ts';
import type { JsonObject } from '../json.ts';

/** A resource with the schemas of its bodies. */
export type Documented = { resource: Resource; catalog: Resource[] } & ReturnType<typeof bodiesOf>;

/** Returns each resource with the schemas of its bodies. */
export function documentedOf(catalog: Resource[]): Documented[] {
  return catalog.map((resource) => ({ resource, catalog, ...bodiesOf(resource, catalog) }));
}

/**
 * Creates the schemas of the bodies of a resource, each with an id and an example: the response, the response that contains the secret, the
 * body of POST and PUT, and that of PATCH. A field that refers to another resource has the id of that resource.
 */
function bodiesOf(resource: Resource, catalog: Resource[]) {
  const { type, idForm, schema, readOnly, secret, example, exactlyOneOf } = resource;
  const name = capitalize(type);
  const fields = { ...readOnly?.shape, ...schema.shape, ...references(resource, catalog) };
  const writable = z.strictObject(pick(fields, (field) => field in schema.shape));
  const written = exactlyOneOf ? eitherOf(writable, exactlyOneOf) : writable;
  const createdAt = z.string().meta({ format: 'date-time' });
  const answered: z.ZodObject = z.object({ id: idText(idForm), type: z.literal(type), createdAt, ...fields });
  const answer = responseExample(resource);
  const named = <Body extends z.ZodType>(id: string, body: Body, one: JsonObject) =>
    body.meta({ id, description: schema.description, examples: [one] });
  return {
    answered: named(name, answered, answer),
    revealing: secret
      ? named(`${name}WithSecret`, answered.extend({ [secret.field]: revealed }), {
          ...answer,
          [secret.field]: secret.example,
        })
      : named(name, answered, answer),
    written: named(`New${name}`, written, example),
    patched: named(`${name}Patch`, mergePatch(writable), patchExample(resource)),
  };
}

/** The two forms of an object that has exactly one of two optional fields. */
function eitherOf({ shape }: z.ZodObject, fields: [string, string]): z.ZodType {
  const having = (own: string) =>
    z.strictObject(
      Object.fromEntries(
        Object.entries(shape)
          .filter(([name]) => name === own || !fields.includes(name))
          .map(([name, field]) => [name, name === own ? z.nonoptional(field) : field]),
      ),
    );
  return z.union([having(fields[0]), having(fields[1])]);
}

const revealed = z.string().describe('Only in this response');

const exampleIds = { A: '5d3b0a1c9e8f7a6b5c4d3e2f', B: '04f8996d-a763-47a9-89b1-028ee3007569' };

/** An id: "24 lowercase hexadecimal characters", or up to 50 characters of a larger set. */
export function idText(form: 'A' | 'B', about?: string) {
  return form === 'A'
    ? z.string().meta({
        pattern: '^[0-9a-f]{24}$',
        description: about ?? '24 hexadecimal characters',
        examples: [exampleIds.A],
      })
    : z.string().meta({
        pattern: '^[\\w@~.-]{1,50}$',
        description: about ?? 'Up to 50 letters, digits and _@~.-',
        examples: [exampleIds.B],
      });
}

/** The fields that refer to another resource. */
function references({ references: declared = [], parent, schema, readOnly }: Resource, catalog: Resource[]) {
  const toParent = parent ? [{ field: `${parent.type}Id`, to: parent.type }] : [];
  const fields = [...declared, ...toParent].flatMap(({ field, to }) => {
    const member = schema.shape[field] ?? readOnly?.shape[field];
    const target = catalog.find(({ type }) => type === to);
    if (!member || !target) return [];
    const id = idText(target.idForm, `The id of ${withArticle(to)}`).meta({ 'x-resource': to });
    return [[field, member instanceof z.ZodOptional ? id.optional() : id] as const];
  });
  return Object.fromEntries(fields);
}

/** The merge patch of a schema (RFC 7396): no member is required, optional ones can be null, arrays are replaced as a whole. */
function mergePatch(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    const inner = mergePatch(schema.unwrap() as z.ZodType);
    return inner.nullable().meta(schema.meta() ?? {});
  }
  if (!(schema instanceof z.ZodObject)) return schema;
  const members = Object.entries(schema.shape).map(([name, member]) => [name, mergePatch(member).optional()]);
  const patch = z.strictObject(Object.fromEntries(members));
  const { catchall } = schema.def;
  return catchall && !(catchall instanceof z.ZodNever) ? patch.catchall(catchall) : patch;
}

/** One field with a value and one that is removed. */
function patchExample({ schema, example }: Resource): JsonObject {
  const optional = Object.keys(schema.shape).filter((name) => schema.shape[name] instanceof z.ZodOptional);
  const changed = Object.keys(example).findLast((name) => !optional.includes(name));
  const removed = optional.find((name) => !(name in example));
  return {
    ...pick(example, (name) => name === changed),
    ...(removed !== undefined && { [removed]: null }),
  };
}

/** The declared example with the members that clients cannot write. */
function responseExample({ type, idForm, parent, readOnly, schema, example }: Resource): JsonObject {
  const parentId =
    parent && pick({ [`${parent.type}Id`]: exampleIds.A }, (name) => name in { ...readOnly?.shape });
  const written = schema.parse(pick(example, (name) => name in schema.shape));
  return {
    id: exampleIds[idForm],
    type,
    createdAt: '2026-11-20T12:00:00Z',
    ...parentId,
    ...example,
    ...written,
  };
}

function pick<Value>(
  object: Record<string, Value>,
  isWanted: (name: string) => boolean,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => isWanted(name)));
}

/** Converts a type to the name of its schema, e.g. `billingProfile` to `BillingProfile`. */
export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Converts a type to words, e.g. `scimUserMapping` to `SCIM user mapping`. */
export function toWords(type: string): string {
  return type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/\bscim\b/, 'SCIM');
}

/** Converts a type to words with an article, e.g. `invoice` to `an invoice` and `user` to `a user`. */
export function withArticle(type: string): string {
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${toWords(type)}`;
}
