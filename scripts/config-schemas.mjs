// Writes the JSON Schemas beside the config files. With --check it only tells whether they are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { jsonSchemas } from '../src/config/schema.ts';

for (const [file, text] of Object.entries(jsonSchemas())) {
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${file} is out of date: run "npm run schemas" and commit it.\n`);
    process.exitCode = 1;
  }
}
