// Runs the command line from the sources: builds first when dist is missing or older than any of them.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const newest = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((time, entry) => Math.max(time, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0);

const built = join(root, 'dist/main.js');
const sources = ['src', 'docs'].map((folder) => join(root, folder)).filter(existsSync);
if (!existsSync(built) || Math.max(...sources.map(newest)) > statSync(built).mtimeMs) {
  process.stderr.write('Building Jetbridge, which takes a few seconds …\n');
  await import('./build.mjs');
}

await import('../dist/main.js');
