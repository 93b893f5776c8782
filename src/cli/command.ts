import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Shell } from './terminal/output.ts';

/** The exit code of a command that was used correctly: 0 done, 1 a fault was found. */
export type ExitCode = 0 | 1;

/** Wraps the work of a command, so that its exit code becomes that of the program. */
export type Action = <A extends unknown[]>(
  work: (...values: A) => Promise<ExitCode>,
) => (...values: A) => Promise<void>;

/** The flag of commands that print text or JSON. */
export interface JsonFlag {
  json?: true;
}

/** A command of the program. Its subcommands work on the same shell. */
export class CliCommand extends Command {
  readonly #shell: Shell;
  readonly #action: Action;

  constructor(name: string | undefined, shell: Shell, action: Action) {
    super(name);
    this.#shell = shell;
    this.#action = action;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name, this.#shell, this.#action);
  }

  /** Adds examples to the help. Each is a command line without `npx jetbridge`, and works as typed. */
  examples(...lines: [string, ...string[]]): this {
    const title = lines.length === 1 ? 'Example:' : 'Examples:';
    const text = ['', title, ...lines.map((line) => `  npx jetbridge ${line}`)].join('\n');
    return this.addHelpText('after', text);
  }

  /** Sets the work of the command, which gets the shell, the arguments, the flags and the command. */
  runs<A extends unknown[]>(work: (shell: Shell, ...values: A) => Promise<ExitCode>): this {
    return this.action(this.#action((...values: A) => work(this.#shell, ...values)));
  }
}

/** Returns the version of the program in this folder. */
export function readVersion(home: string): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** Lets every command tell after a wrong use where its help is, and every group where its examples are. */
export function pointToHelp(command: Command, path = command.name()): void {
  command.showHelpAfterError(`See: ${path} --help`);
  if (command.commands.length > 0)
    command.addHelpText('after', `\nEvery command has examples: ${path} <command> --help`);
  for (const child of command.commands) pointToHelp(child, `${path} ${child.name()}`);
}
