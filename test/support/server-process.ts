import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Checkpoint } from '../../src/bridge/ports.ts';

/** The repository, whose `dist` is what runs. */
const home = join(__dirname, '..', '..');

/** How a process ended. */
interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderr: string;
}

/** When a process dies: as it passes a point so many times, counted together where it is any. */
export interface Doom {
  point: Checkpoint | 'any';
  passings: number;
}

/** A service in a process of its own, which can die at any moment. */
export interface ServerProcess {
  url: string;
  pid: number;
  exited: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
  /** From now on it dies at this; only with `canDie`. */
  arm(doom: Doom): Promise<void>;
}

interface Start {
  canDie?: boolean;
  doom?: Doom | undefined;
  /** Called with each piece of the log; LOG_LEVEL says how much there is. */
  onLog?: (text: string) => void;
  /** An open file that the log goes to instead. */
  logFile?: number;
}

/** Starts a service and waits until it serves. `canDie`: through crash-server.mjs, perhaps doomed from the start. */
export async function startServer(
  environment: Record<string, string>,
  { canDie = false, doom, onLog, logFile }: Start = {},
): Promise<ServerProcess> {
  const program = canDie
    ? [join(home, 'test', 'support', 'crash-server.mjs')]
    : [join(home, 'dist', 'main.js'), 'serve'];
  const fate: Record<string, string> = doom ? { CRASH_AT: textOf(doom) } : {};
  const child = launch(program, { ...environment, ...fate }, logFile);
  const process = watched(child);
  child.stdout?.on('data', (chunk: Buffer) => onLog?.(chunk.toString()));
  const url = await Promise.race([
    servingUrl(child),
    process.exited.then((exit) => Promise.reject(new Error(`it did not start: ${JSON.stringify(exit)}`))),
  ]);
  const arm = async (later: Doom) => {
    const armed = once(child, 'message');
    child.send(textOf(later));
    // It may have died already, at the point that was named before.
    await Promise.race([armed, process.exited]);
  };
  return { ...process, url, pid: child.pid ?? 0, arm };
}

function textOf({ point, passings }: Doom): string {
  return `${point} ${passings}`;
}

function launch(program: string[], environment: Record<string, string>, logFile?: number): ChildProcess {
  return spawn(process.execPath, program, {
    cwd: home,
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent', ...environment },
    stdio: ['ignore', logFile ?? 'pipe', 'pipe', 'ipc'],
  });
}

function watched(child: ChildProcess): Pick<ServerProcess, 'exited' | 'kill'> {
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  // "close" comes after "exit", when all of stderr was read.
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stderr }));
  });
  return { exited, kill: (signal) => void child.kill(signal) };
}

function servingUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk;
      const url = /^Jetbridge serves on (\S+)\n/m.exec(text)?.[1];
      if (url) resolve(url);
    });
  });
}
