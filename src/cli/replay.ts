import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { replay } from '../replay/report.ts';
import { ScenarioFault } from '../replay/scenario.ts';
import { type Action, escapeLine, parseBaseUrl, parseVariable, type Shell } from './output.ts';

/** Adds the command `replay`. */
export function addReplayCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('replay')
    .description('play recorded exchanges against a running service; exit code 1 on a mismatch')
    .argument('<path>', 'a scenario file, or a folder with scenario files')
    .requiredOption('--url <url>', 'the SCIM base URL, e.g. http://127.0.0.1:8080/scim/v2', parseBaseUrl)
    .requiredOption('--token <token>', 'a bearer token of that service')
    .option('--variable <name=value>', 'a variable of the scenarios; can be repeated', parseVariable, {})
    .action(
      action((path: string, options: { url: string; token: string; variable: Record<string, string> }) =>
        replayRecorded(shell, path, options),
      ),
    );
}

/** Plays recorded exchanges against a running service. Returns 1 if an answer differs from the expected one. */
export async function replayRecorded(
  shell: Shell,
  path: string,
  options: { url: string; token: string; variable: Record<string, string> },
): Promise<0 | 1> {
  try {
    const { failed } = await replay({
      files: [path],
      url: options.url,
      token: options.token,
      variables: options.variable,
      print: (line) => shell.print(escapeLine(line)),
      now: Date.now,
      newRun: () => randomBytes(4).toString('hex'),
    });
    return failed > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ScenarioFault)) throw error;
    shell.printError(error.message);
    return 1;
  }
}
