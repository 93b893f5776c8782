#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// V8 lets garbage grow to 200 MB before it looks; told so, it stays near 110 MB with 10,000 users at no cost that could
// be measured. Before anything else is loaded, as what is loaded is half of the heap; and here rather than on the command
// line, so that it holds for npm start, npx and the image alike.
setFlagsFromString('--optimize-for-size');
const { run } = await import('./cli.ts');
process.exitCode = await run(process.argv.slice(2), fileURLToPath(new URL('..', import.meta.url)));
