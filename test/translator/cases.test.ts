import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, ScimResource } from '../../src/schema/resource.ts';
import { type Given, inShort, translate } from './house.ts';

/** One case of a table: a user, what else is given, and what must come of it. */
interface Case extends Given {
  title: string;
  user: ScimResource;
  /** The fields to look at, roles and custom fields all: their value, null for absent, `?` for unresolved. */
  fields: { [key: string]: Json };
  /** All findings, as `field: code`; none when left out. */
  findings?: string[];
  /** Whether fresher lookups may help; not when left out. */
  missed?: boolean;
  fallbackEmail?: string;
}

const folder = join(__dirname, 'cases');

describe.each(readdirSync(folder))('%s', (file) => {
  const cases: Case[] = JSON.parse(readFileSync(join(folder, file), 'utf8'));

  it.each(cases)('$title', ({ user, fields, findings = [], missed = false, fallbackEmail, ...given }) => {
    const translation = translate(user, given);
    const all = inShort(translation.fields);
    const elements = Object.keys(all).filter((key) => /^(roles|customFields)\./.test(key));
    const looked = new Set([...elements, ...Object.keys(fields)]);
    expect(Object.fromEntries([...looked].map((key) => [key, all[key]]))).toEqual(fields);
    expect(translation.findings.map(({ field, code }) => `${field}: ${code}`)).toEqual(findings);
    expect(translation.missed).toBe(missed);
    if (fallbackEmail !== undefined) expect(translation.fallbackEmail).toBe(fallbackEmail);
  });
});
