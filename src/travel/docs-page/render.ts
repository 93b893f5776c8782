import type { DocumentedApi, DocumentedOperation } from '../../contract/openapi.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/** Renders the fields of a resource, nested ones indented, with who may write them and when responses contain them. */
export function fieldsTable({ components }: DocumentedApi, type: string): Markup {
  const schemas = asObject(components['schemas']);
  const written = schemas[`New${type}`];
  const rows = rowsOf(components, { answered: schemas[type], written, depth: 0 });
  return html`<table>
<thead><tr><th>Field</th><th>Type</th>${written !== undefined && html`<th>Given</th>`}<th>Answered</th><th>Notes</th></tr></thead>
<tbody>${rows.map((row) => fieldRow(row, written !== undefined))}</tbody>
</table>`;
}

/** The type of a schema as text, e.g. `list of strings`. */
export function typeText(schema: JsonObject): string {
  const { type, items, format, anyOf, oneOf, $ref } = schema;
  if ($ref !== undefined) return asString($ref)?.endsWith('/Anything') ? 'anything' : 'object';
  if (type === 'array') return `list of ${typeText(asObject(items)).replace(/^\w+/, '$&s')}`;
  const choices = asObjects(anyOf ?? oneOf).map(typeText);
  if (choices.length > 0) return [...new Set(choices)].join(' or ');
  const names = Array.isArray(type) ? type.join(' or ') : (asString(type) ?? 'anything');
  return format === undefined ? names : `${names} (${String(format).replace('idn-', '')})`;
}

/** Notes on a schema beyond its type: description, constants, bounds, pattern and default. */
export function schemaNotes(schema: JsonObject): Markup[] {
  const { description, enum: values, const: only, minimum, maximum, maxLength, pattern, items } = schema;
  const isExplained = description !== undefined || schema['format'] !== undefined;
  const said: (Markup | undefined)[] = [
    description === undefined ? undefined : html`${inlineCode(String(description))}.`,
    only === undefined ? undefined : html`Always <code>${String(only)}</code>.`,
    Array.isArray(values) ? html`${codeList(values)}.` : undefined,
    isBound(maximum) ? html`${Number(minimum ?? 0)} to ${Number(maximum)}.` : undefined,
    maxLength === undefined ? undefined : html`At most ${Number(maxLength)} characters.`,
    // Omit long patterns, and those that a description or format explains; they are in the OpenAPI document.
    isShort(pattern) && !isExplained ? html`Matches <code>${pattern}</code>.` : undefined,
    schema['default'] === undefined ? undefined : html`Default <code>${String(schema['default'])}</code>.`,
  ];
  const own = said.filter((note) => note !== undefined);
  return isJsonObject(items) && !isJsonObject(items['properties']) ? [...own, ...schemaNotes(items)] : own;
}

interface Row {
  name: string;
  /** The nesting depth of the rendered fields. */
  depth: number;
  schema: JsonObject;
  given: string;
  answered: string;
}

interface Shapes {
  answered: Json | undefined;
  written: Json | undefined;
  depth: number;
}

function rowsOf(components: JsonObject, { answered, written, depth }: Shapes): Row[] {
  const shape = itemSchema(components, answered);
  const source = itemSchema(components, written);
  return membersOf(shape['properties']).flatMap(([name, member]) => {
    const schema = asObject(member);
    const given = asObject(source['properties'])[name];
    const row = {
      name,
      depth,
      schema,
      given: givenText(source, name),
      answered: isAmong(shape['required'], name) ? 'always' : 'if set',
    };
    return [row, ...rowsOf(components, { answered: member, written: given, depth: depth + 1 })];
  });
}

/** Returns the schema whose properties are shown. For a list, this is the schema of its items. */
function itemSchema(components: JsonObject, schema: Json | undefined): JsonObject {
  const here = resolveReference(components, schema);
  return here['items'] === undefined ? here : itemSchema(components, here['items']);
}

function givenText({ properties, required }: JsonObject, name: string): string {
  const member = asObject(properties)[name];
  if (member === undefined || asObject(member)['readOnly'] === true) return 'read-only';
  return isAmong(required, name) ? 'required' : 'optional';
}

function fieldRow({ name, depth, schema, given, answered }: Row, isWritable: boolean): Markup {
  return html`<tr><td class="in-${depth}"><code>${name}</code></td><td>${typeText(schema)}</td>${isWritable && html`<td>${given}</td>`}<td>${answered}</td><td>${joinWithSpaces(schemaNotes(schema))}</td></tr>`;
}

/** Joins notes with spaces. */
export function joinWithSpaces(notes: Markup[]): Markup[] {
  return notes.map((note) => html`${note} `);
}

function codeList(values: Json[]): Markup[] {
  const shown = values.filter((value) => value !== null);
  return shown.map((value, position) => html`${position > 0 && ', '}<code>${String(value)}</code>`);
}

function isAmong(list: Json | undefined, name: string): boolean {
  return Array.isArray(list) && list.includes(name);
}

/** Do not note a maximum that every JavaScript number satisfies. */
function isBound(maximum: Json | undefined): boolean {
  return typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER;
}

function isShort(pattern: Json | undefined): pattern is string {
  return typeof pattern === 'string' && pattern.length <= 40;
}

/** A response of an operation. */
export interface Answer {
  status: string;
  description: string;
  example: Json | undefined;
}

/** Returns the responses of an operation, in its order. */
export function answersOf({ components }: DocumentedApi, { responses }: DocumentedOperation): Answer[] {
  return membersOf(responses).map(([status, response]) => {
    const { description, content } = resolveReference(components, response);
    return { status, description: asString(description) ?? '', example: firstExample(content) };
  });
}

/** Resolves a `$ref` to a component; any other part is returned unchanged. */
function resolveReference(components: JsonObject, part: Json | undefined): JsonObject {
  const reference = asString(asObject(part)['$ref']);
  if (reference === undefined) return asObject(part);
  const [kind = '', name = ''] = reference.split('/').slice(-2);
  return asObject(asObject(components[kind])[name]);
}

/** Returns the members of a JSON object; an empty list for any other value. */
export function membersOf(value: Json | undefined): [string, Json][] {
  return Object.entries(asObject(value));
}

/** Returns the value if it is a JSON object, otherwise an empty object. */
export function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the objects of a list; an empty list for any other value. */
function asObjects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the value if it is a string, otherwise undefined. */
export function asString(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value of the first example of a content. */
export function firstExample(content: Json | undefined): Json | undefined {
  const { examples } = asObject(asObject(content)['application/json']);
  const [first] = membersOf(examples);
  return first && asObject(first[1])['value'];
}

/** A fragment of HTML whose texts are already escaped. */
export interface Markup {
  readonly html: string;
}

type Part = Markup | string | number | Part[];

/** A template tag for HTML: inserted texts are escaped, inserted markup is not; undefined and false insert nothing. */
export function html(pieces: TemplateStringsArray, ...parts: (Part | undefined | false)[]): Markup {
  const text = pieces.map((piece, position) => {
    const part = parts[position];
    return part === undefined || part === false ? piece : piece + toHtml(part);
  });
  return { html: text.join('') };
}

/** Renders text between backticks as code. */
export function inlineCode(text: string): Markup[] {
  const parts = text.split('`');
  return parts.map((part, position) => (position % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
}

function toHtml(part: Part): string {
  if (Array.isArray(part)) return part.map(toHtml).join('');
  return typeof part === 'object' ? part.html : escapeHtml(String(part));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
