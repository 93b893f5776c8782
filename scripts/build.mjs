// Compiles src to dist and makes the command runnable. A clean dist, so that a removed file does not linger.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
rmSync(join(root, 'dist'), { recursive: true, force: true });
compile('tsconfig.build.json');
// The types of jetbridge/replay, the only part that other programs import.
compile('tsconfig.declarations.json');
// The same part once more as CommonJS with its types: jest loads it without any setting.
compile('tsconfig.commonjs.json');
writeFileSync(join(root, 'dist/commonjs/package.json'), '{ "type": "commonjs" }\n');
// The admin page.
execFileSync(process.execPath, [executable('vite', 'bin/vite.js'), 'build', '--logLevel', 'warn'], {
  cwd: root,
  stdio: 'inherit',
});
chmodSync(join(root, 'dist/main.js'), 0o755);

function compile(project) {
  execFileSync(process.execPath, [executable('typescript', 'bin/tsc'), '-p', join(root, project)], {
    stdio: 'inherit',
  });
}

/** Returns the path of a program of a package. */
function executable(name, file) {
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
}
