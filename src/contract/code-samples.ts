import { z } from 'zod';
import type { Json, JsonObject } from '../schema/resource.ts';

/**
 * Creates calls of an operation to copy, in the form of `x-code-samples`. They read the address of the service (`JETBRIDGE`), the credential
 * and the ids, such as `USER_ID`, from environment variables.
 */
export function codeSamples(operation: Called, credential: string): JsonObject[] {
  const { method, path, body } = operation;
  const data = body && JSON.stringify(exampleOf(body), null, 2);
  const call = { method: method.toUpperCase(), path, credential, body: data };
  return [
    { lang: 'bash', label: 'curl', source: curl(call) },
    { lang: 'javascript', label: 'TypeScript', source: typeScript(call) },
    { lang: 'python', label: 'Python', source: python(call) },
  ];
}

interface Called {
  method: string;
  path: string;
  body?: z.ZodType | undefined;
}

interface Call {
  method: string;
  path: string;
  credential: string;
  body: string | undefined;
}

/** The example of a schema, or one that is made of those of its parts; undefined if a part that it must have has none. */
export function exampleOf(schema: z.core.$ZodType): Json | undefined {
  const [example] = (z.globalRegistry.get(schema)?.['examples'] ?? []) as Json[];
  if (example !== undefined) return example;
  if (schema instanceof z.ZodObject) {
    const parts = Object.entries(schema.shape).map(([name, member]) => [name, exampleOf(member)]);
    const made = Object.fromEntries(parts.filter(([, value]) => value !== undefined));
    return schema.safeParse(made).success ? made : undefined;
  }
  if (schema instanceof z.ZodArray) {
    const element = exampleOf(schema.element);
    return element === undefined ? undefined : [element];
  }
  if (schema instanceof z.ZodUnion) return schema.options.map(exampleOf).find((one) => one !== undefined);
  if (schema instanceof z.ZodLiteral || schema instanceof z.ZodEnum)
    return [...schema._zod.values][0] as Json;
  return undefined;
}

function curl({ method, path, credential, body }: Call): string {
  const headers = [
    `-H "Authorization: Bearer $${credential}"`,
    ...(body ? ["-H 'Content-Type: application/json'"] : []),
  ];
  const data = body ? [`-d '${body.replaceAll("'", "'\\''")}'`] : [];
  return [`curl -sS -X ${method} "${url(path, (name) => `$${name}`)}"`, ...headers, ...data].join(' \\\n  ');
}

function typeScript({ method, path, credential, body }: Call): string {
  const variable = (name: string) => `\${process.env.${name}}`;
  return [
    `const response = await fetch(\`${url(path, variable)}\`, {`,
    `  method: '${method}',`,
    `  headers: { Authorization: \`Bearer ${variable(credential)}\`, 'Content-Type': 'application/json' },`,
    ...(body ? [`  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),`] : []),
    '});',
    'console.log(response.status, await response.json());',
  ].join('\n');
}

function python({ method, path, credential, body }: Call): string {
  const variable = (name: string) => `{os.environ['${name}']}`;
  // A word at the end of a line is no part of a text, which ends with a quote.
  const words: Record<string, string> = { true: 'True', false: 'False', null: 'None' };
  const data = body?.replace(/\b(true|false|null)(?=,?$)/gm, (word) => words[word] ?? word);
  return [
    'import os, requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    f"${url(path, variable)}",`,
    `    headers={"Authorization": f"Bearer ${variable(credential)}"},`,
    ...(data ? [`    json=${data.replaceAll('\n', '\n    ')},`] : []),
    ')',
    'print(response.status_code, response.json())',
  ].join('\n');
}

function url(path: string, variable: (name: string) => string): string {
  const filled = path.replace(/([\w-]+)\/\{\w+\}/g, (_whole, collection: string) => {
    const type = collection.replace(/ies$/, 'y').replace(/s$/, '');
    return `${collection}/${variable(`${type.replaceAll('-', '_').toUpperCase()}_ID`)}`;
  });
  return variable('JETBRIDGE') + filled;
}
