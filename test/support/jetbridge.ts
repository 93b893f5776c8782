import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const home = join(__dirname, '..', '..');
const main = join(home, 'dist/main.js');

/** What one command line came to. */
export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** Only what every process needs: the settings of whoever runs the tests are not ours. */
const bare = { PATH: process.env['PATH'] ?? '' };

/** Runs the built command line to its end, in the repository's folder. */
export function jetbridge(args: string[], environment: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [main, ...args], { cwd: home, env: { ...bare, ...environment } });
  return ended(child);
}

/** A folder of one's own. */
export function folder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A server as its operator has it: a process. */
export interface Served {
  url: string;
  /** What was printed until it was ready. */
  welcome: string;
  /** Its log so far. */
  log(): string;
  signal(name: NodeJS.Signals): void;
  /** As an operator stops it. */
  stop(): Promise<Ran>;
}

/** Starts `jetbridge serve` on a free port, and answers when it serves. */
export async function serve(environment: Record<string, string>): Promise<Served> {
  const env = { ...bare, PORT: '0', LOG_LEVEL: 'silent', ...environment };
  const child = spawn(process.execPath, [main, 'serve'], { cwd: home, env });
  const end = ended(child);
  let log = '';
  child.stdout.on('data', (chunk) => {
    log += String(chunk);
  });
  const welcome = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (chunk) => {
      text += String(chunk);
      if (/travel service .*\n/.test(text)) resolve(text);
    });
    void end.then(({ err }) => reject(new Error(`The server did not start: ${err}`)));
  });
  return {
    url: /serves on (\S+)/.exec(welcome)?.[1] ?? '',
    welcome,
    log: () => log,
    signal: (name) => void child.kill(name),
    stop: () => {
      child.kill('SIGTERM');
      return end;
    },
  };
}

function ended(child: ChildProcess): Promise<Ran> {
  const ran: Ran = { code: null, out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    ran.out += String(chunk);
  });
  child.stderr?.on('data', (chunk) => {
    ran.err += String(chunk);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...ran, code }));
  });
}
