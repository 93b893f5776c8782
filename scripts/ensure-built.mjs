// `npm start` builds when needed: when dist is missing or older than any source.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const newest = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((time, entry) => Math.max(time, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0);

const built = join(root, 'dist/main.js');
const sources = join(root, 'src');
if (!existsSync(built) || (existsSync(sources) && newest(sources) > statSync(built).mtimeMs)) {
  await import('./build.mjs');
}
