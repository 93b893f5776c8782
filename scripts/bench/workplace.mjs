import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder of a run, and the programs that are closed at its end, the last started first. */
export function workplace(kept) {
  const folder = mkdtempSync(join(tmpdir(), 'jetbridge-bench-'));
  const data = kept ?? join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const closing = [() => rmSync(folder, { recursive: true, force: true })];
  return {
    folder,
    data,
    onClose: (close) => closing.unshift(close),
    close: async () => {
      for (const close of closing.splice(0)) await close();
    },
  };
}
