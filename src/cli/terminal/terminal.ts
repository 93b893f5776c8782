import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Interrupted } from '../exit-code.ts';
import { type Color, escapeControls, type Shell } from './output.ts';

/** The environment variables and streams of a process. */
interface Streams {
  env: Shell['environment'];
  stdin: { isTTY?: boolean };
  stdout: Output;
  stderr: Output;
}

interface Output {
  isTTY?: boolean;
  /** The width of a terminal. */
  columns?: number;
  write(text: string): unknown;
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
}

/** Returns the shell of this process, or of other streams. `home` is the program's folder. */
export function processShell(home: string, streams: Streams = process): Shell {
  const { env, stdin, stdout, stderr } = streams;
  let isOutputClosed = false;
  stderr.on('error', ignoreClosedPipe);
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') endWithoutOutput(error);
    isOutputClosed = true;
  });
  const paint = hasColors(env, stdout.isTTY === true) ? paintFirstWord : (text: string) => text;
  return {
    environment: env,
    home,
    isTerminal: stderr.isTTY === true && env['TERM'] !== 'dumb',
    ...(stdin.isTTY && stderr.isTTY ? { ask } : {}),
    // A terminal that does not know its width says 0.
    ...(stdout.isTTY && stdout.columns ? { columns: stdout.columns } : {}),
    isOutputClosed: () => isOutputClosed,
    print: (text, color) => stdout.write(paint(escapeControls(`${text}\n`), color)),
    printError: (text) => stderr.write(`${escapeControls(text)}\n`),
  };
}

/** A reader such as `head` may end before the command does. The command's further output is discarded. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** The output cannot be completed, for example because the disk of a redirection is full. */
function endWithoutOutput({ message }: Error): never {
  process.stderr.write(`The output cannot be written: ${message}.\n`);
  process.exit(1);
}

/** True if the output is a terminal that has colours, unless NO_COLOR is set. FORCE_COLOR decides before both; `0` means no colours. */
export function hasColors(environment: Shell['environment'], isTerminal: boolean): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = environment;
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return isTerminal && !NO_COLOR && TERM !== 'dumb';
}

/** The parameters of the escape sequence SGR (ECMA-48 §8.3.117). */
const colorCodes = { green: 32, yellow: 33, red: 31 } satisfies Record<Color, number>;

function paintFirstWord(text: string, color: Color | undefined): string {
  if (color === undefined) return text;
  return text.replace(/^\S+/, (word) => `\u001b[${colorCodes[color]}m${word}\u001b[39m`);
}

/** If the input ends, the answer is empty. Ctrl-C throws Interrupted. */
async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const end = new Promise<string>((resolve, reject) => {
      terminal.once('close', () => resolve(''));
      terminal.once('SIGINT', () => reject(new Interrupted()));
    });
    return await Promise.race([terminal.question(escapeControls(question)), end]);
  } finally {
    terminal.close();
  }
}

/** The name of the user of the operating system; a container may have none. */
export function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
