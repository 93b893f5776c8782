// Bundles src to dist and makes the command runnable. Everything is built in a folder beside, which becomes dist at the end: after an
// interrupted build the next start builds again, and a removed source lingers nowhere.
import { execFileSync } from 'node:child_process';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleApiRenderer, bundleCommonJs, bundleProgram } from './bundle.mjs';
import { renderDocuments } from './documents.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const building = join(root, 'dist.building');
rmSync(building, { recursive: true, force: true });
await bundleProgram(building);
await bundleCommonJs(join(building, 'commonjs'));
// The types of jetbridge/replay, the only part that other programs import.
for (const folder of ['', 'commonjs']) compile('tsconfig.declarations.json', join(building, folder));
writeFileSync(join(building, 'commonjs/package.json'), '{ "type": "commonjs" }\n');
// The admin page.
run('vite', 'bin/vite.js', ['build', '--logLevel', 'warn', '--outDir', join(building, 'admin/ui')]);
renderDocuments(join(building, 'docs'));
await bundleApiRenderer(join(building, 'docs/openapi-explorer'));
chmodSync(join(building, 'main.js'), 0o755);
rmSync(dist, { recursive: true, force: true });
renameSync(building, dist);

function compile(project, folder) {
  run('typescript', 'bin/tsc', ['-p', join(root, project), '--outDir', folder]);
}

function run(name, file, args) {
  execFileSync(process.execPath, [executable(name, file), ...args], { cwd: root, stdio: 'inherit' });
}

/** Returns the path of a program of a package. */
function executable(name, file) {
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
}
