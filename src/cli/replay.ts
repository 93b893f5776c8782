import { randomBytes } from 'node:crypto';
import { replay } from '../replay/report.ts';
import { ScenarioFault } from '../replay/scenario.ts';
import { escapeLine, type Shell } from './output.ts';

/** Plays recorded exchanges against a running service; 1 when an answer differs from what is expected. */
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
