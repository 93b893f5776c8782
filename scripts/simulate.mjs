// Plays histories in the simulator (test/simulator): npm run simulate -- --seed N [--operations N] [--runs N] [--sequences N] [--brief].
// The simulator and the sources are bundled first, because Node does not read TypeScript.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
// Within the project, so that its packages are found.
const folder = join(root, 'node_modules/.simulator');
const file = join(folder, `simulate-${process.pid}.mjs`);
mkdirSync(folder, { recursive: true });
const bundle = await rolldown({
  input: join(root, 'test/simulator/main.ts'),
  platform: 'node',
  logLevel: 'silent',
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
});
await bundle.write({ file, format: 'esm', sourcemap: 'inline' });
await bundle.close();
const { status } = spawnSync(process.execPath, ['--enable-source-maps', file, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
rmSync(file);
process.exitCode = status ?? 1;
