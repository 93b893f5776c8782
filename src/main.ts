#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// By default V8 lets the heap grow to 240 MB before it collects garbage. With a collection after each 50 % of growth the heap stays
// below 100 MB, and a read takes about 5 % longer. The flag is set here so that npm start, npx and the image all have it.
setFlagsFromString('--heap-growing-percent=50');
// The only WebAssembly is undici's HTTP parser, which is fast enough as it is. To optimize it, V8 would take 32 MB for a moment.
for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
// Stack traces name the sources in place of the bundle (scripts/bundle.mjs). Only modules that are loaded later have this.
process.setSourceMapsEnabled(true);
const { run } = await import('./cli/cli.ts');
process.exitCode = await run(process.argv.slice(2), fileURLToPath(new URL('..', import.meta.url)));
