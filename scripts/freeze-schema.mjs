// Writes the statements of the first migration to test/store/released, with which every later build is compared. Only before the first
// release: after it they stay as they are, and a change is a migration of its own.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTables } from '../src/store/migrations/columns.ts';
import { firstTables } from '../src/store/migrations/index.ts';
import { postgres, sqlite } from '../src/store/sql/dialect.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const releases = execFileSync('git', ['tag', '--list', 'v*'], { cwd: root, encoding: 'utf8' }).trim();
if (releases !== '') {
  process.stderr.write(
    'There is a release: a change of the schema is a migration of its own (CONTRIBUTING.md).\n',
  );
  process.exit(1);
}
for (const { name, columnTypes } of [sqlite, postgres('database')]) {
  const statements = createTables(firstTables, columnTypes);
  const text = statements.map((statement) => `${statement.replaceAll(/\s+/g, ' ').trim()};\n`);
  writeFileSync(join(root, `test/store/released/0001.${name}.sql`), text.join(''));
}
