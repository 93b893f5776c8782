import type { Command } from 'commander';

/** Formats examples for the help of a command. Each is a command line without `npx jetbridge`, and works as typed. */
export function examples(...lines: [string, ...string[]]): string {
  const title = lines.length === 1 ? 'Example:' : 'Examples:';
  return ['', title, ...lines.map((line) => `  npx jetbridge ${line}`)].join('\n');
}

/** Lets every command tell after a wrong use where its help is, and every group where its examples are. */
export function pointToHelp(command: Command, path = command.name()): void {
  command.showHelpAfterError(`See: ${path} --help`);
  if (command.commands.length > 0)
    command.addHelpText('after', `\nEvery command has examples: ${path} <command> --help`);
  for (const child of command.commands) pointToHelp(child, `${path} ${child.name()}`);
}
