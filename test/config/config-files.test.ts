import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { connectionSchema } from '../../src/config/connection-schema.ts';
import { jsonSchemas, settingsSchema } from '../../src/config/schema.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';

const home = join(__dirname, '..', '..');
const read = (file: string) => readFileSync(join(home, file), 'utf8');

describe('the files that come with the program', () => {
  it.each(Object.entries(jsonSchemas()))(
    '%s says what the program checks ("npm run schemas" writes it)',
    (file, text) => {
      expect(read(file)).toBe(text);
    },
  );

  it.each(['config/jetbridge.json', 'config/jetbridge.example.json'])('%s has no fault', (file) => {
    expect(settingsSchema.safeParse(JSON.parse(read(file))).error).toBeUndefined();
  });

  it.each(['config/mappings', 'demo'])('every mapping in %s has no fault', (folder) => {
    const files = readdirSync(join(home, folder)).filter((file) => !file.endsWith('-day.json'));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const json = JSON.parse(read(`${folder}/${file}`));
      expect(json.$schema).toMatch(/config\/mapping\.schema\.json$|^\.\.\/mapping\.schema\.json$/);
      expect(parseMapping(json)).toHaveProperty('mapping');
    }
  });

  it('the example settings contain every key', () => {
    const example = JSON.parse(read('config/jetbridge.example.json'));
    expect(Object.keys(example)).toEqual(Object.keys(settingsSchema.shape));
    expect(missing(z.toJSONSchema(connectionSchema, { io: 'input' }), example.connections.default)).toEqual(
      [],
    );
  });
});

/** Returns the paths of the keys that a schema has and a value lacks. */
function missing(schema: z.core.JSONSchema._JSONSchema, value: unknown, path = ''): string[] {
  const { properties = {} } = typeof schema === 'boolean' ? {} : schema;
  return Object.entries(properties).flatMap(([key, inner]) => {
    const isObject = typeof value === 'object' && value !== null;
    if (!isObject || !Object.hasOwn(value, key)) return [`${path}${key}`];
    return missing(inner, Object.entries(value).find(([name]) => name === key)?.[1], `${path}${key}.`);
  });
}
