// Plays histories in the simulator (test/simulator): npm run simulate -- --seed N [--operations N] [--runs N] [--brief | --whole] [--stop].
// The simulator and the sources are bundled first, because Node does not read TypeScript.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
// Within the project, so that its packages are found.
const outDir = join(root, `node_modules/.simulator-${process.pid}`);
await build({
  ...{ root, configFile: false, logLevel: 'error' },
  build: {
    ...{ ssr: join(root, 'test/simulator/main.ts'), outDir, target: 'node20', sourcemap: 'inline' },
    rollupOptions: { output: { entryFileNames: 'simulate.mjs' } },
  },
});
const program = ['--enable-source-maps', join(outDir, 'simulate.mjs'), ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, program, { stdio: 'inherit' });
rmSync(outDir, { recursive: true });
process.exitCode = status ?? 1;
