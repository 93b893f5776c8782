// Checks the licences of the packages that are shipped: those of the program, and those that Vite bundles into the admin page
// and the page /api/docs. They are read from the lock file, or from the one that the first argument names.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Licences that allow the use in a product under MIT, with nothing but notices (SPDX). A new one is a decision of a person. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0', 'Unlicense'];

/** Only the command of js-yaml uses it, so that no bundle contains it. */
const NOT_BUNDLED = 'argparse';

const root = fileURLToPath(new URL('..', import.meta.url));
const { packages } = JSON.parse(readFileSync(process.argv[2] ?? join(root, 'package-lock.json'), 'utf8'));
const ofProgram = Object.keys(packages).filter((path) => path !== '' && !packages[path].dev);
const ofPages = new Set();
for (const name of [...importsOfPage(), 'openapi-explorer']) addWithDependencies(name, '');
const shipped = [...new Set([...ofProgram, ...ofPages])];
const faults = shipped.filter((path) => !isAllowed(packages[path].license));
for (const path of faults)
  process.stderr.write(
    `${path}: the licence ${packages[path].license} is not allowed. Use another package, or allow it in scripts/check-licences.mjs.\n`,
  );
process.stdout.write(`Licences: ${shipped.length} packages are shipped, ${faults.length} faults\n`);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Of a choice such as "(MIT OR CC0-1.0)", one licence must be allowed. Every other expression is not. */
function isAllowed(licence = '') {
  return licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((one) => ALLOWED.includes(one));
}

/** The names of the packages that the sources of the page import. */
function importsOfPage() {
  const folder = join(root, 'src/admin/ui');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const imports = files.flatMap((file) => [
    ...readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import) '((?:@[\w.-]+\/)?[a-z][\w.-]*)/g),
  ]);
  return new Set(imports.map(([, name]) => name));
}

/** Adds the package that `name` means to the package at `from`, and all that it needs. */
function addWithDependencies(name, from) {
  const path = resolve(name, from);
  if (path === undefined || ofPages.has(path) || name === NOT_BUNDLED) return;
  ofPages.add(path);
  const { dependencies, peerDependencies } = packages[path];
  for (const needed of Object.keys({ ...dependencies, ...peerDependencies }))
    addWithDependencies(needed, path);
}

/** Looks for a package as Node does: beside the importer, then in each folder above. An optional one may be missing. */
function resolve(name, from) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === '') return undefined;
  }
}
