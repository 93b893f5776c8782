// Lets a script import the sources, because Node 20 does not read TypeScript: node --import ./scripts/typescript.mjs SCRIPT.
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

// Node calls the hooks in a thread of its own, which loads this file again.
if (isMainThread) register(import.meta.url);

/** The hook of Node that loads a module: TypeScript is compiled, and everything else is loaded as usual. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { transformFile } = await import('@swc/core');
  const { code } = await transformFile(fileURLToPath(url), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023', experimental: { keepImportAttributes: true } },
    sourceMaps: 'inline',
  });
  return { format: 'module', source: code, shortCircuit: true };
}
