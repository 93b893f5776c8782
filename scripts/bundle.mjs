// Bundles the program with its packages: Node would load some 1,600 modules one by one at each start of a command
// (docs/decisions/0061-the-program-is-bundled.md).
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Packages that stay outside of the bundle: the addon of SQLite, and those that pg and debug use if an operator has installed them. */
const external = ['@photostructure/sqlite', 'pg-native', 'supports-color'];

/** Programs, the entry `jetbridge/replay`, and modules that tests of processes and benchmarks import. */
const entries = [
  ...['main', 'admin/mapping-thread/worker', 'replay/index'],
  ...['cli/cli', 'config/settings', 'server/start'],
];

/** Writes the program to a folder, with source maps and the notices of its packages. Each dynamic import is a chunk of its own. */
export function bundleProgram(folder) {
  return bundle(folder, entries, {
    build: { license: { fileName: 'third-party-notices.md' }, sourcemap: true },
    output: { chunkFileNames, sourcemapExcludeSources: true },
    plugins: [shortSourceMaps],
  });
}

/** Writes `jetbridge/replay` as CommonJS, which jest loads without any setting. */
export function bundleCommonJs(folder) {
  return bundle(folder, ['replay/index'], { output: { format: 'cjs' } });
}

/** Writes the renderer of the page /api/docs to a folder, with the notices of its packages. */
export function bundleApiRenderer(outDir) {
  return build({
    ...{ root, configFile: false, logLevel: 'warn' },
    build: {
      ...{ outDir, emptyOutDir: false, license: { fileName: 'third-party-notices.md' } },
      ...{ chunkSizeWarningLimit: 1000, reportCompressedSize: false },
      rolldownOptions: {
        input: fileURLToPath(import.meta.resolve('openapi-explorer')),
        output: { entryFileNames: 'openapi-explorer.js' },
      },
    },
  });
}

function bundle(outDir, names, { output, plugins = [], build: options = {} }) {
  const input = Object.fromEntries(names.map((name) => [name, join(root, `src/${name}.ts`)]));
  return build({
    ...{ root, configFile: false, logLevel: 'warn' },
    // The files of packages are those that Node would load, not those for bundlers.
    resolve: { conditions: ['node'], mainFields: [] },
    ssr: { noExternal: true, external },
    build: {
      ...{ ssr: true, outDir, emptyOutDir: false, target: 'node20', ...options },
      rolldownOptions: {
        input,
        plugins,
        output: { entryFileNames: '[name].js', comments: false, ...output },
      },
    },
  });
}

/** A package that is imported when it is needed gives its chunk its name. */
function chunkFileNames({ facadeModuleId }) {
  const [, name = '[name]'] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(facadeModuleId ?? '') ?? [];
  return `chunks/${name}.js`;
}

/**
 * Leaves one position for each line of a source. Node reads the source maps of all modules that it loads, and decodes a map for the
 * first stack trace that names the module: a map of all positions would take 200 ms and 20 MB.
 */
const shortSourceMaps = {
  name: 'short-source-maps',
  generateBundle: (_options, files) => {
    for (const file of Object.values(files).filter(({ fileName }) => fileName.endsWith('.js.map'))) {
      const { mappings, names: _names, ...map } = JSON.parse(file.source);
      file.source = JSON.stringify({
        ...map,
        names: [],
        mappings: encode(decode(mappings).map(firstOfLines)),
      });
    }
  },
};

function firstOfLines(segments) {
  const isFirst = ([, source, line], index) =>
    index === 0 || source !== segments[index - 1][1] || line !== segments[index - 1][2];
  return segments.filter(isFirst).map((segment) => segment.slice(0, 4));
}
