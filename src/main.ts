#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { run } from './cli.ts';

process.exitCode = await run(process.argv.slice(2), fileURLToPath(new URL('..', import.meta.url)));
