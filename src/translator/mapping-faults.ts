import { z } from 'zod';

/** One fault of a mapping file: the JSON path, what is wrong there, and what would be right. */
export interface MappingFault {
  path: string;
  problem: string;
  remedy: string;
}

/** A message for a schema: what is wrong, and what would be right. */
export function told(problem: string, remedy: string): string {
  return `${problem}\n${remedy}`;
}

type Issue = z.core.$ZodIssue;

/** Every fault in zod's issues about a JSON value, in words for whoever wrote it. */
export function faultsOf(error: z.ZodError, schema: z.core.$ZodType): MappingFault[] {
  return error.issues.flatMap((issue) => faultsOfIssue(issue, schema));
}

function faultsOfIssue(issue: Issue, schema: z.core.$ZodType): MappingFault[] {
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, issue.path);
    const remedy = known.length > 0 ? `Known here: ${known.join(', ')}.` : 'Remove it.';
    return issue.keys.map((key) => ({
      path: jsonPath([...issue.path, key]),
      problem: 'unknown key',
      remedy,
    }));
  }
  return [{ path: jsonPath(issue.path), problem: problemOf(issue), remedy: remedyOf(issue) }];
}

function problemOf(issue: Issue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is missing';
  if (issue.code === 'invalid_value') return 'is not one of the known values';
  const [problem = ''] = issue.message.split('\n');
  return problem.replace(/^(Invalid input|Invalid option|Too small|Too big): /, '');
}

function remedyOf(issue: Issue): string {
  const [, remedy] = issue.message.split('\n');
  if (remedy !== undefined) return remedy;
  if (issue.code === 'invalid_value') return `Write one of ${issue.values.join(', ')}.`;
  if (issue.code === 'invalid_type') return `Write ${withArticle(issue.expected)}.`;
  if (issue.code === 'too_small') return 'Write something here, or leave it out.';
  if (issue.code === 'too_big')
    return `Write at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'elements'}.`;
  return 'See docs/mappings for what may stand here.';
}

function withArticle(type: string): string {
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** `scimUserMapping[2].transforms[0]`; `$` is the whole file. */
function jsonPath(path: PropertyKey[]): string {
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
  if (inner instanceof z.ZodArray) return typeof head === 'number' ? keysAt(inner.element, rest) : [];
  if (!(inner instanceof z.ZodObject)) return [];
  if (head === undefined) return Object.keys(inner.shape);
  const next = inner.shape[String(head)];
  return next ? keysAt(next, rest) : [];
}

function withoutWrappers(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return withoutWrappers(schema.unwrap());
  return schema;
}
