import { z } from 'zod';
import { jsonPath } from '../../schema/json-path.ts';
import { nearest } from '../../schema/similar-words.ts';

/** One fault of a settings or mapping file: its JSON path, the problem and the remedy. */
export interface MappingFault {
  path: string;
  problem: string;
  remedy: string;
}

/**
 * Joins a problem and a remedy to one error message for zod. `toMappingFaults` splits it again at the line feed, so that
 * line feeds in the texts, which quote the file, are escaped.
 */
export function faultText(problem: string, remedy: string): string {
  return [problem, remedy].map((text) => text.replaceAll('\n', '\\n')).join('\n');
}

type Issue = z.core.$ZodIssue;

/** Converts zod's issues about a JSON value to faults for the author of the file. */
export function toMappingFaults(error: z.ZodError, schema: z.core.$ZodType): MappingFault[] {
  return error.issues.flatMap((issue) => toFaults(issue, schema));
}

function toFaults(issue: Issue, schema: z.core.$ZodType): MappingFault[] {
  if (issue.code === 'unrecognized_keys') {
    const known = allowedKeys(schema, issue.path);
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
  const [problem = '', remedy] = messageOf(issue).split('\n');
  if (remedy !== undefined) return problem;
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

/** For an invalid key of a record, zod nests the message one level deeper. */
function messageOf(issue: Issue): string {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}

function quoted(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function withArticle(type: string): string {
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** Returns the member names that a schema allows at a path. */
function allowedKeys(schema: z.core.$ZodType, path: PropertyKey[]): string[] {
  const [head, ...rest] = path;
  const inner = withoutWrappers(schema);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => allowedKeys(option, path));
  if (inner instanceof z.ZodRecord) return head === undefined ? [] : allowedKeys(inner.valueType, rest);
  if (inner instanceof z.ZodArray) return typeof head === 'number' ? allowedKeys(inner.element, rest) : [];
  if (!(inner instanceof z.ZodObject)) return [];
  if (head === undefined) return Object.keys(inner.shape);
  const next = inner.shape[String(head)];
  return next ? allowedKeys(next, rest) : [];
}

function withoutWrappers(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return withoutWrappers(schema.unwrap());
  return schema;
}
