import { CommanderError } from 'commander';
import { operatorMessage } from '../checks/operator-message.ts';

/** Thrown if Ctrl-C is pressed at a question. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Thrown if a command cannot do what its arguments say. The message is printed with a hint at the help. */
export class WrongUse extends Error {
  override name = 'WrongUse';
}

/** Thrown if a command cannot do what it was asked to do. The message, which is printed, says why; it is empty if the output has said it. */
export class Refused extends Error {
  override name = 'Refused';
}

/** Runs the work of a command. Returns 1 if it is refused, after the reason was printed. */
export async function untilRefused(
  { printError }: { printError(text: string): void },
  work: () => Promise<void>,
): Promise<0 | 1> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.message !== '') printError(error.message);
    return 1;
  }
}

/**
 * Returns the exit code for an error of a command: 2 for wrong use, 130 for Ctrl-C (as shells do), 1 for an error that the operator can fix, with a line on standard
 * error. Rethrows every other error, so that its stack is shown.
 */
export function exitCodeFor(error: unknown, complain: (text: string) => void): 0 | 1 | 2 | 130 {
  // Commander has printed the message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Interrupted) return 130;
  const message = error instanceof Refused ? error.message : operatorMessage(error);
  if (message === undefined) throw error;
  complain(message);
  return 1;
}
