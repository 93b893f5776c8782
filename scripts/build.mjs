// Compiles src to dist and makes the command runnable. A clean dist, so that a removed file does not linger.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
rmSync(join(root, 'dist'), { recursive: true, force: true });
compile('tsconfig.build.json');
// The types of jetbridge/replay, the only part that other programs import.
compile('tsconfig.declarations.json');
// The same part once more as CommonJS with its types: jest loads it without any setting.
compile('tsconfig.commonjs.json');
writeFileSync(join(root, 'dist/commonjs/package.json'), '{ "type": "commonjs" }\n');
chmodSync(join(root, 'dist/main.js'), 0o755);

function compile(project) {
  const tsc = join(dirname(compiler), 'bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', join(root, project)], { stdio: 'inherit' });
}
