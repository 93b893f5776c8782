import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import { exchangeReader } from '../../log/search.ts';
import { travelRoles } from '../../model/translation.ts';
import type { ExchangeSource } from '../../replay/exchanges.ts';
import { type Recording, recordScenarios } from '../../replay/recorder.ts';
import { collectExchanges, type RecordingDeps } from '../../replay/recording.ts';
import type { ScenarioDefinition } from '../../replay/scenario.ts';
import type { Database } from '../../store/sql/database.ts';
import type { CliCommand } from '../command.ts';
import { findConnection, withDatabase } from '../database.ts';
import { parseDuration, parseTime } from '../terminal/arguments.ts';
import {
  countText,
  escapeLine,
  printJson,
  printTable,
  type Shell,
  startProgress,
} from '../terminal/output.ts';

/** The flags of `record`. */
export interface RecordFlags {
  connection: string;
  out: string;
  /** Epoch milliseconds. */
  since?: number;
  /** Milliseconds. */
  for?: number;
  json?: true;
}

/** Defines the command `record`, which reads the log of exchanges of a database. */
export function defineRecordCommand(
  command: CliCommand,
  openSource: (database: Database) => ExchangeSource = exchangeReader,
): void {
  command
    .option('--connection <id>', 'the connection', 'default')
    .requiredOption('--out <folder>', 'the folder of the files; it is created if it is missing', parseFolder)
    .option('--since <time>', 'record the past from the log, e.g. 1h, 2d, 2026-11-20T08:00:00Z', parseTime)
    .option('--for <duration>', 'how long to record, e.g. 10m; default: until Ctrl-C', parseDuration)
    .option('--json', 'one JSON object for each file')
    .examples('record --out scenarios --since 1d', 'record --connection default --out scenarios --for 10m')
    .runs((shell, flags: RecordFlags) =>
      withDatabase(shell, async ({ database, settings }) => {
        findConnection(settings, flags.connection);
        await record(shell, flags, { source: openSource(database), ...untilInterrupted() });
      }),
    );
}

/** Refuses a file before the recording, which would be lost if its folder could not be created at the end. */
function parseFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new InvalidArgumentError('must be a folder, and is a file.');
  return path;
}

/** The clock of a recording, and the test whether it is to end. */
type Clock = Pick<RecordingDeps, 'now' | 'pause' | 'isEnded'>;

/** Ends the recording at the first Ctrl-C or SIGTERM; the files are then written. A second one ends the program. */
function untilInterrupted(): Clock {
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end.abort());
  return {
    now: Date.now,
    isEnded: () => end.signal.aborted,
    pause: (ms) => {
      const options = end.signal.aborted ? {} : { signal: end.signal };
      return setTimeout(ms, undefined, options).catch(() => undefined);
    },
  };
}

/** Records until the time is over or Ctrl-C is pressed, and writes one file for each scenario. */
export async function record(
  shell: Shell,
  flags: RecordFlags,
  { source, ...clock }: Clock & { source: ExchangeSource },
): Promise<0> {
  const { connection, since, for: duration } = flags;
  const start = clock.now();
  // With --since alone, the recording is of the past.
  const until = duration === undefined ? (since === undefined ? undefined : start) : start + duration;
  if (until === undefined)
    shell.printError(`Recording the requests of ${escapeLine(connection)}. Ctrl-C ends it.`);
  const progress = startProgress(shell, 'record', 'requests');
  const exchanges = await collectExchanges(
    { connection, since: since ?? start, until },
    { source, progress: progress.update, ...clock },
  ).finally(progress.stop);
  const recording = await recordScenarios(exchanges, { vocabulary: travelRoles });
  if (recording.scenarios.length > 0) printRecording(shell, flags, recording);
  else {
    shell.printError(`There are no requests of ${escapeLine(connection)} in that time; nothing was written.`);
  }
  return 0;
}

function printRecording(shell: Shell, { out, json }: RecordFlags, { scenarios, leftOut }: Recording): void {
  mkdirSync(out, { recursive: true });
  const files = scenarios.map((scenario) => ({
    file: writeScenario(out, scenario),
    steps: scenario.steps.length,
  }));
  if (json) printJson(shell, ...files);
  else {
    printTable(
      shell,
      ['file', 'steps'],
      files.map(({ file, steps }) => [file, String(steps)]),
    );
    shell.print(
      `Play them with: npx jetbridge replay ${escapeLine(out)} --url <SCIM base URL> --token <token>`,
    );
  }
  for (const reason of new Set(leftOut.map((one) => one.reason))) {
    const count = leftOut.filter((one) => one.reason === reason).length;
    shell.printError(`${countText(count, 'request was', 'requests were')} left out: ${reason}.`);
  }
}

/** Writes a scenario to a file of its name; with a number if there is such a file already. */
function writeScenario(folder: string, scenario: ScenarioDefinition): string {
  let file = join(folder, `${scenario.name}.json`);
  for (let number = 2; existsSync(file); number += 1) file = join(folder, `${scenario.name}-${number}.json`);
  writeFileSync(file, `${JSON.stringify(scenario, null, 2)}\n`);
  return file;
}
