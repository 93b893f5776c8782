import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { home } from './documents.ts';

interface Import {
  script: string;
  source: string;
  names: string[];
}

/** The imports of sources and of entries of the bundle in all scripts, with the TypeScript source of each module. */
function importsOfScripts(): Import[] {
  const scripts = readdirSync(join(home, 'scripts'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.mjs'),
  );
  return scripts.flatMap((file) => {
    const script = join('scripts', file);
    const text = readFileSync(join(home, script), 'utf8');
    return [...text.matchAll(/import \{([^}]*)\} from '(\.[^']*(?:src|dist)\/[^']+)\.(?:ts|js)'/g)].map(
      ([, names = '', path = '']) => ({
        script,
        source: `${join(dirname(script), path).replace(/^dist\//, 'src/')}.ts`,
        names: names.split(',').flatMap((name) => name.trim().split(' as ')[0] || []),
      }),
    );
  });
}

it('scripts import only what the sources export, as no compiler checks them', () => {
  const imports = importsOfScripts();
  expect(imports.length).toBeGreaterThan(15);
  for (const { script, source, names } of imports) {
    const text = existsSync(join(home, source)) ? readFileSync(join(home, source), 'utf8') : '';
    for (const name of names) {
      const isExported = new RegExp(`^export (async )?(function\\*?|const|class) ${name}\\b`, 'm').test(text);
      expect(isExported ? '' : `${script} imports ${name} from ${source}`).toBe('');
    }
  }
});
