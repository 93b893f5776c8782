import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminClient, signIn } from '../fixtures/admin.ts';

const home = join(__dirname, '../..');

test.each(['SIGINT', 'SIGTERM'] as const)(
  'demo prints the table, serves the page until %s, and leaves nothing',
  async (signal) => {
    const temporary = mkdtempSync(join(tmpdir(), 'jetbridge-demo-test-'));
    const child = spawn(process.execPath, [join(home, 'dist/main.js'), 'demo'], {
      cwd: temporary,
      env: { PATH: process.env['PATH'], TMPDIR: temporary },
    });
    try {
      let printed = '';
      for await (const text of child.stdout) {
        printed += text;
        if (printed.includes('Ctrl-C ends the demo')) break;
      }
      expect(printed).toContain('2 scenarios: 2 passed, 0 failed, 0 skipped');
      const [, url = '', password = ''] =
        /on (http\S+)\/admin: sign in as admin with (\S+)/.exec(printed) ?? [];
      expect((await fetch(`${url}/admin`)).status).toBe(200);
      const browser = await signIn(adminClient(url), 'admin', password);
      expect((await browser('GET', '/overview')).body.people.total).toBeGreaterThan(0);
      const [folder = ''] = readdirSync(temporary);
      expect(folder).toMatch(/^jetbridge-demo-/);
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(readdirSync(temporary)).toEqual([]);
    } finally {
      child.kill('SIGKILL');
      rmSync(temporary, { recursive: true, force: true });
    }
  },
  60_000,
);
