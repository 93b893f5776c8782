import { z } from 'zod';

/** One fault of a settings or mapping file: the JSON path, what is wrong there, and what would be right. */
export interface MappingFault {
  path: string;
  problem: string;
  remedy: string;
}

/** A message for a schema: what is wrong, and what would be right. */
export function faultText(problem: string, remedy: string): string {
  return `${problem}\n${remedy}`;
}

type Issue = z.core.$ZodIssue;

/** Every fault in zod's issues about a JSON value, in words for whoever wrote it. */
export function toMappingFaults(error: z.ZodError, schema: z.core.$ZodType): MappingFault[] {
  return error.issues.flatMap((issue) => faultsOfIssue(issue, schema));
}

function faultsOfIssue(issue: Issue, schema: z.core.$ZodType): MappingFault[] {
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, issue.path);
    return issue.keys.map((key) => ({
      path: jsonPath([...issue.path, key]),
      problem: 'unknown key',
      remedy: remedyOfKey(key, known),
    }));
  }
  return [{ path: jsonPath(issue.path), problem: problemOf(issue), remedy: remedyOf(issue) }];
}

function remedyOfKey(key: string, known: string[]): string {
  if (known.length === 0) return 'Remove it.';
  const meant = nearest(key, known);
  return `${meant === undefined ? '' : `Did you mean ${meant}? `}Known here: ${known.join(', ')}.`;
}

function problemOf(issue: Issue): string {
  const [problem = '', told] = messageOf(issue).split('\n');
  if (told !== undefined) return problem;
  if (issue.code === 'invalid_type' && problem.endsWith('received undefined')) return 'is missing';
  if (issue.code === 'invalid_value') return 'is not one of the known values';
  return problem.replace(/^(Invalid input|Too small|Too big): /, '');
}

function remedyOf(issue: Issue): string {
  const [, remedy] = messageOf(issue).split('\n');
  if (remedy !== undefined) return remedy;
  if (issue.code === 'invalid_value') return `Write one of ${issue.values.map(quoted).join(', ')}.`;
  if (issue.code === 'invalid_type') return `Write ${withArticle(issue.expected)}.`;
  if (issue.code === 'too_small') return 'Write something here, or leave it out.';
  if (issue.code === 'too_big')
    return `Write at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'elements'}.`;
  return 'See docs/mappings.md for what may stand here.';
}

/** What is wrong with a name in a record stands one level below. */
function messageOf(issue: Issue): string {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}

function quoted(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function withArticle(type: string): string {
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** `scimUserMapping[2].transforms[0]`; `$` is the whole file. */
export function jsonPath(path: PropertyKey[]): string {
  const text = path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      return /^[\w$]+$/.test(String(part)) ? `.${String(part)}` : `[${JSON.stringify(String(part))}]`;
    })
    .join('');
  return text === '' ? '$' : text.replace(/^\./, '');
}

/** The names that an object at a path may have. */
function keysAt(schema: z.core.$ZodType, path: PropertyKey[]): string[] {
  const [head, ...rest] = path;
  const inner = withoutWrappers(schema);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => keysAt(option, path));
  if (inner instanceof z.ZodRecord) return head === undefined ? [] : keysAt(inner.valueType, rest);
  if (inner instanceof z.ZodArray) return typeof head === 'number' ? keysAt(inner.element, rest) : [];
  if (!(inner instanceof z.ZodObject)) return [];
  if (head === undefined) return Object.keys(inner.shape);
  const next = inner.shape[String(head)];
  return next ? keysAt(next, rest) : [];
}

function withoutWrappers(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return withoutWrappers(schema.unwrap());
  return schema;
}

/** The known word that a misspelled one is likely meant to be; undefined when none is near. */
export function nearest(word: string, known: string[]): string | undefined {
  const far = Math.max(2, Math.floor(word.length / 3));
  const distances = known.map((candidate) => ({
    candidate,
    distance: distance(word.toLowerCase(), candidate.toLowerCase()),
  }));
  const [best] = distances.toSorted((one, other) => one.distance - other.distance);
  return best && best.distance <= far ? best.candidate : undefined;
}

/** How many letters must be put in, taken out or exchanged (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, expected] of [...other].entries()) {
      const exchanged = (row[column] ?? 0) + (letter === expected ? 0 : 1);
      next.push(Math.min(exchanged, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
