import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/travel/json.ts';

/** One statement of the specification; with a form it is a row of a field table. */
export interface Statement {
  statement: string;
  /** Dots lead into objects, `[]` into the items of a list. */
  field?: string;
  form?: string;
  required?: boolean;
  /** The values listed in the specification, or examples of an open list. */
  values?: Json[];
  /** If true, this service never returns the field. */
  absent?: boolean;
  /** The type that a reference leads to. */
  to?: string;
}

/** A row of a field table. */
export type Row = Statement & { field: string; form: string };

/** A section of the specification; a section about a resource says how to reach it. */
export interface Section<More = unknown> {
  section: string;
  /** The file that tests the statements without a test of their own. */
  test: string;
  type: string;
  path: string;
  idForm: 'A' | 'B';
  /** The smallest body that creates one. */
  least: JsonObject;
  statements: (Statement & More)[];
}

const folder = join(__dirname, 'statements');

/** The sections whose statements this test file covers. */
export function sectionsOf<More = unknown>(test: string): Section<More>[] {
  const all: Section<More>[] = readdirSync(folder).map((file) =>
    JSON.parse(readFileSync(join(folder, file), 'utf8')),
  );
  return all.filter((section) => section.test === test);
}

/** The rows of a section's table. */
export function rowsOf({ statements }: Section): Row[] {
  return statements.filter((one): one is Row => one.form !== undefined);
}
