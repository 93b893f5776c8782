import { sourcesBelow } from '../docs/documents.ts';
import { readDocument } from '../fixtures/markdown.ts';

interface LockedPackage {
  dev?: boolean;
  integrity?: string;
  resolved?: string;
}

const lock: { packages: Record<string, LockedPackage> } = JSON.parse(readDocument('package-lock.json'));
const installed = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);

test('each package that a production install contains has a hash in the lock file', () => {
  expect(installed.length).toBeGreaterThan(30);
  for (const [path, { integrity }] of installed) expect([path, integrity]).toEqual([path, sha512]);
});

const sha512 = expect.stringMatching(/^sha512-[\w+/]+=*$/);

test('no package comes from elsewhere than the registry', () => {
  const elsewhere = Object.entries(lock.packages).filter(
    ([, { resolved = '' }]) => resolved !== '' && !resolved.startsWith('https://registry.npmjs.org/'),
  );
  expect(elsewhere).toEqual([]);
});

test('each dependency has an exact version', () => {
  const { dependencies, devDependencies } = JSON.parse(readDocument('package.json'));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+(-[\w.]+)?$/)]);
});

test('the program starts no other program, and runs no text as code', () => {
  const sources = sourcesBelow('src');
  expect(sources.length).toBeGreaterThan(300);
  const forbidden =
    /node:child_process|node:vm\b|\beval\(|new Function\b|dangerouslySetInnerHTML|\.innerHTML\b/;
  expect(sources.filter((file) => forbidden.test(readDocument(file)))).toEqual([]);
});
