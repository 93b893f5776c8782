import { counts } from './counts.mjs';

// The module that `src/store/sql/sqlite-file.ts` takes.
const [major, minor] = process.versions.node.split('.').map(Number);
const builtIn = major > 22 || (major === 22 && minor >= 13);
const original = await import(builtIn ? 'node:sqlite' : '@photostructure/sqlite');

/** SQLite whose statements are counted. The classes of the module cannot be changed. */
export class DatabaseSync extends original.DatabaseSync {
  prepare(text) {
    const statement = super.prepare(text);
    const counting =
      (name) =>
      (...parameters) => {
        counts.statements += 1;
        return statement[name](...parameters);
      };
    return {
      columns: () => statement.columns(),
      setReturnArrays: statement.setReturnArrays && ((value) => statement.setReturnArrays(value)),
      iterate: (...parameters) => statement.iterate(...parameters),
      all: counting('all'),
      run: counting('run'),
    };
  }
}
