// Writes the JSON Schemas beside the config files from the schemas that the program itself checks with. With --check it
// only tells whether they are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { settingsSchema } from '../dist/config.js';
import { mappingSchema } from '../dist/translator/mapping.js';

const files = {
  'config/jetbridge.schema.json': z.toJSONSchema(settingsSchema, { io: 'input' }),
  'config/mapping.schema.json': z.toJSONSchema(mappingSchema, { io: 'input' }),
};

for (const [file, schema] of Object.entries(files)) {
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if (process.argv.includes('--check')) {
    if (readFileSync(file, 'utf8') !== text) {
      process.stderr.write(`${file} is out of date: run "npm run schemas" and commit it.\n`);
      process.exitCode = 1;
    }
  } else {
    writeFileSync(file, text);
  }
}
