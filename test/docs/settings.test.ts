import { z } from 'zod';
import { environmentGroups, environmentSchema } from '../../src/config/environment.ts';
import { settingsSchema } from '../../src/config/schema.ts';
import { readDocument } from '../fixtures/markdown.ts';

/** docs/settings.md is generated from these descriptions; generated-pages.slow.test.ts compares it. */
const page = readDocument('docs/settings.md');

test.each(Object.entries(environmentSchema.shape))('the variable %s has a description', (name, variable) => {
  expect(variable.meta()?.description).toMatch(/^[`A-Z].*\.$/);
  expect(page).toContain(`#### \`${name}\`\n`);
});

test('every variable is in one group', () => {
  const grouped = Object.values(environmentGroups).flatMap((group) => Object.keys(group));
  expect(grouped).toEqual(Object.keys(environmentSchema.shape));
});

type Schema = Exclude<z.core.JSONSchema._JSONSchema, boolean>;

/** The keys of an object and of the objects in it, with `*` for the name of a connection. */
function keysIn(schema: Schema, path = ''): [string, Schema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]): [string, Schema][] => {
    if (typeof member === 'boolean' || key === '$schema') return [];
    const { additionalProperties: inner } = member;
    const below = typeof inner === 'object' ? keysIn(inner, `${path}${key}.*.`) : [];
    const isOpaque = ['paths', 'admins', 'viewers'].includes(key);
    return [[`${path}${key}`, member], ...below, ...(isOpaque ? [] : keysIn(member, `${path}${key}.`))];
  });
}

const keys = keysIn(z.toJSONSchema(settingsSchema, { io: 'input' }));

test('the keys of the settings file are found', () => {
  const names = keys.map(([name]) => name);
  expect(names).toContain('connections.*.policies.deprovision');
  expect(names).toContain('travelService.openid.jwksUri');
  expect(names.length).toBeGreaterThan(40);
});

test.each(keys)('the key %s has a description, and is on the page', (name, member) => {
  expect(member.description).toMatch(/^[A-Z].*[.:]$/);
  if (member.properties === undefined || name.endsWith('.paths'))
    expect(page).toContain(`\`${name.replace(/^connections$/, 'connections.*')}`);
});
