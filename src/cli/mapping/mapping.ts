import { readText } from '../../config/faults.ts';
import type { MappingDeps } from '../../operations/deps.ts';
import { mappingChangeOperations } from '../../operations/mappings/mapping-changes.ts';
import { mappingOperations } from '../../operations/mappings/mappings.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import type { CliCommand } from '../command.ts';
import { Refused, WrongUse } from '../exit-code.ts';
import { listPages, type Operator, withOperations } from '../operations.ts';
import { parseCount } from '../terminal/arguments.ts';
import { addChangeFlags, type ChangeFlags, confirmChange } from '../terminal/confirmation.ts';
import { escapeLine, formatMinute, type Shell } from '../terminal/output.ts';
import {
  addLimitOption,
  addListFlags,
  type ListFlags,
  printList,
  printResult,
  rowLimit,
} from '../terminal/printers.ts';
import { chooseConnection, withMappingOperations } from './mapping-operations.ts';
import { allRulesText, previewReport } from './mapping-report.ts';

interface MappingFlags {
  connection?: string;
  json?: true;
}

/** Defines the commands `mapping show`, `check`, `preview`, `history`, `apply`, `proposed` and `restore`. */
export function defineMappingCommands(mapping: CliCommand): void {
  const add = (name: string) =>
    mapping.command(name).option('--connection <id>', 'the connection; needed only if there are several');
  addShowCommand(add('show'));
  addFileCommands(add);
  addListFlags(addLimitOption(add('history'), 'versions'))
    .description('list the mappings that are and were in force, the newest first')
    .examples('mapping history')
    .runs(listHistory);
  addChangeCommands(add);
  addProposedCommand(add('proposed'));
}

function addShowCommand(show: CliCommand): void {
  show
    .description('print the mapping in force, or one of the history, as JSON')
    .argument('[version]', 'its number in the history; default: the one in force')
    .option(
      '--all',
      'every rule in force as text: those of the mapping, then those of the travel service and the default rules, as a mapping file could have them',
    )
    .option('--json', 'one JSON object, with the version')
    .examples('mapping show > my-mapping.json', 'mapping show 2', 'mapping show --all')
    .runs((shell, version: string | undefined, { all, ...flags }: MappingFlags & { all?: true }) =>
      all ? showRules(shell, flags) : showMapping(shell, version, flags),
    );
}

/** Prints a mapping in the form of a mapping file. */
function showMapping(shell: Shell, version: string | undefined, flags: MappingFlags): Promise<0 | 1> {
  return withOperations(shell, async ({ call, deps }) => {
    const { id: connection } = chooseConnection(deps.settings, flags.connection);
    const { readMapping, readMappingVersion } = mappingOperations;
    if (version === undefined) {
      const read = await call(mappingOperations, 'readMapping', { connection });
      printResult(shell, flags, readMapping.result.encode(read), () => read.text.trimEnd());
    } else {
      const read = await call(mappingOperations, 'readMappingVersion', { connection, version });
      printResult(shell, flags, readMappingVersion.result.encode(read), () => read.text.trimEnd());
    }
  });
}

/** Prints every rule that is in force. */
function showRules(shell: Shell, flags: MappingFlags): Promise<0 | 1> {
  return withMappingOperations(shell, flags, async ({ call }, { id: connection }) => {
    const { text } = await call(mappingOperations, 'readMapping', { connection });
    const others = await call(mappingOperations, 'listOtherRules', { connection });
    printResult(shell, flags, others, () => allRulesText(text, others.rules));
  });
}

type Version = OperationOutput<typeof mappingOperations.listMappingVersions>['versions'][number];

const versionColumns = {
  version: ({ number }: Version) => number,
  since: ({ appliedAt }: Version) => new Date(appliedAt),
  source: ({ source }: Version) => source,
  by: ({ author }: Version) => author,
  rules: ({ rules }: Version) => rules,
};

function listHistory(shell: Shell, { connection, ...flags }: ListFlags & MappingFlags): Promise<0 | 1> {
  return withOperations(shell, async (operator) => {
    const { id } = chooseConnection(operator.deps.settings, connection);
    const list = [mappingOperations, 'listMappingVersions', 'versions'] as const;
    await printList(shell, flags, listPages(operator, list, { connection: id }, rowLimit(flags) + 1), {
      columns: versionColumns,
      none: `No mapping has been in force for connection ${id}: start the server once.`,
    });
  });
}

function addFileCommands(add: (name: string) => CliCommand): void {
  add('check')
    .description(
      'print every fault of a mapping file, and every name that the travel service does not have; groups that nobody has sent are warnings',
    )
    .argument('<file>', 'a mapping file')
    .option('--json', 'one JSON object')
    .examples('mapping check my-mapping.json')
    .runs((shell, file: string, flags: MappingFlags) =>
      withMappingOperations(shell, flags, async (operator, { id }) => {
        const { faults, warnings, unchecked } = await checkFile(operator, id, file);
        if (!flags.json) requireNoFaults(shell, file, { faults, warnings });
        const exception = warnings.length > 0 ? ', except for the warnings' : '';
        const result = { file, faults, warnings, unchecked };
        printResult(shell, flags, result, () => unchecked ?? `${file} is in order${exception}.`);
        if (faults.length > 0) throw new Refused();
      }),
    );
  add('preview')
    .description('show what a mapping file would change for all people; nothing is written or sent')
    .argument('<file>', 'a mapping file')
    .option('--limit <number>', 'the number of people to show as examples; default: 10', parseCount)
    .option('--json', 'one JSON object')
    .examples('mapping preview my-mapping.json --limit 3')
    .runs((shell, file: string, { limit, ...flags }: MappingFlags & { limit?: number }) =>
      withMappingOperations(shell, flags, async (operator, { id }) => {
        const text = await readSoundFile(shell, operator, id, file);
        await printPreview(shell, operator, { connection: id, name: file, text, examples: limit, ...flags });
      }),
    );
}

/** Checks the text of a file. */
async function checkFile({ call }: Operator<MappingDeps>, connection: string, file: string) {
  const text = readMappingText(file);
  return { text, ...(await call(mappingChangeOperations, 'checkMapping', { connection, text })) };
}

/** Reads a mapping file as text. */
export function readMappingText(file: string): string {
  const text = readText(file);
  if (typeof text === 'string') return text;
  throw new Refused(escapeLine(`${file}: ${text.problem}. ${text.remedy}`));
}

type Checked = Pick<OperationOutput<typeof mappingChangeOperations.checkMapping>, 'faults' | 'warnings'>;

function requireNoFaults(shell: Shell, file: string, { faults, warnings }: Checked): void {
  const lineOf = ({ path, problem, remedy }: Checked['faults'][number]) =>
    escapeLine(`${file} ${path}: ${problem}. ${remedy}`);
  for (const warning of warnings) shell.printError(`warning: ${lineOf(warning)}`);
  if (faults.length > 0) throw new Refused(faults.map(lineOf).join('\n'));
}

/** Reads a mapping file that has no faults, after its warnings were printed. */
export async function readSoundFile(
  shell: Shell,
  operator: Operator<MappingDeps>,
  connection: string,
  file: string,
): Promise<string> {
  const { text, ...checked } = await checkFile(operator, connection, file);
  requireNoFaults(shell, file, checked);
  return text;
}

interface PreviewRequest {
  connection: string;
  /** The name of the mapping, and its text. Without one, the mapping in force is compared with what was sent last. */
  name?: string | undefined;
  text?: string | undefined;
  examples?: number | undefined;
  /** As in the operation. */
  valuesSince?: number | undefined;
  json?: true | undefined;
}

/** Prints what a mapping would change for all people. */
export async function printPreview(
  shell: Shell,
  { call }: Operator<MappingDeps>,
  { name, json, ...input }: PreviewRequest,
): Promise<void> {
  const preview = await call(mappingChangeOperations, 'previewMapping', input);
  const subject = { connection: input.connection, mapping: name, columns: shell.columns };
  printResult(shell, { json }, preview, () => previewReport(preview, subject));
}

function addChangeCommands(add: (name: string) => CliCommand): void {
  addChangeFlags(add('apply'))
    .description(
      'show what a mapping file would change, ask, and put it in force without a restart; a file with a fault is refused as a whole',
    )
    .argument('<file>', 'a mapping file')
    .examples('mapping apply my-mapping.json', 'mapping apply my-mapping.json --yes')
    .runs((shell, file: string, flags: MappingFlags & ChangeFlags) =>
      withMappingOperations(shell, flags, async (operator, { id: connection, mappingFile }) => {
        const expected = await readGeneration(operator, connection);
        const text = await readSoundFile(shell, operator, connection, file);
        await confirmPlan(shell, operator, { connection, name: file, text, ...flags });
        const change = { connection, text, generation: expected };
        const result = await operator.call(mappingChangeOperations, 'applyMapping', change);
        printChange(shell, { ...result, ...flags, mappingFile });
      }),
    );
  addChangeFlags(add('restore'))
    .description('show what a mapping of the history would change, ask, and put it in force again')
    .argument('<version>', 'its number in the history', parseCount)
    .option(
      '--values',
      'also put back the values of travelers that later mappings have replaced, in fields that the restored mapping does not set',
    )
    .examples('mapping restore 1', 'mapping restore 1 --values')
    .runs((shell, version: number, { values, ...flags }: MappingFlags & ChangeFlags & { values?: true }) =>
      withMappingOperations(shell, flags, async (operator, { id: connection, mappingFile }) => {
        const generation = await readGeneration(operator, connection);
        const place = { connection, version: String(version) };
        const { text } = await operator.call(mappingOperations, 'readMappingVersion', place);
        const valuesSince = values && version;
        await confirmPlan(shell, operator, {
          ...{ connection, name: `version ${version}`, text, valuesSince, ...flags },
        });
        const change = { connection, version, generation, values: values ?? false };
        const result = await operator.call(mappingChangeOperations, 'restoreMappingVersion', change);
        printChange(shell, { ...result, ...flags, mappingFile });
      }),
    );
}

/** Reads the generation with which a change is compared. */
async function readGeneration({ call }: Operator, connection: string): Promise<number> {
  return (await call(mappingOperations, 'readMapping', { connection })).version?.generation ?? 0;
}

/** Prints what a change would do, and asks. */
async function confirmPlan(
  shell: Shell,
  operator: Operator<MappingDeps>,
  { yes, ...request }: PreviewRequest & ChangeFlags,
): Promise<void> {
  if (!request.json) await printPreview(shell, operator, request);
  const question = `Put ${request.name} in force for connection ${request.connection}?`;
  await confirmChange(shell, question, { yes });
}

type Change = OperationOutput<typeof mappingChangeOperations.applyMapping>;

function printChange(
  shell: Shell,
  { json, mappingFile, ...change }: Change & MappingFlags & { mappingFile: string | undefined },
): void {
  const { outcome, version, generation } = change;
  const text = {
    applied: `In force, as version ${version}. A running server brings all people up to date; it begins within two seconds. Go back with "npx jetbridge mapping restore".`,
    unchanged: `This mapping is in force already, as version ${version}.`,
    proposed: `More than 100 people would change, so it waits, and version ${version} stays in force. "npx jetbridge mapping proposed" decides.`,
  };
  printResult(shell, { json }, { outcome, version, generation }, () => text[outcome]);
  if (outcome === 'applied' && mappingFile !== undefined)
    shell.printError(
      `The settings name ${mappingFile}, which replaces this mapping when its content changes.`,
    );
}

type ProposedFlags = MappingFlags &
  ChangeFlags & {
    accept?: true;
    discard?: true;
  };

function addProposedCommand(proposed: CliCommand): void {
  addChangeFlags(
    proposed
      .option('--accept', 'put it in force')
      .option('--discard', 'drop it: it is not proposed again until its content changes'),
  )
    .description(
      'show the rules that wait because more than 100 people would change, and put them in force or discard them',
    )
    .examples('mapping proposed', 'mapping proposed --accept', 'mapping proposed --discard --yes')
    .runs((shell, { accept, discard, ...flags }: ProposedFlags) => {
      if (accept && discard) throw new WrongUse('give either --accept or --discard');
      return withMappingOperations(shell, flags, async (operator, { id: connection }) => {
        const { proposed: rules } = await operator.call(mappingOperations, 'readProposedMapping', {
          connection,
        });
        if (!rules) throw new Refused(`Nothing is proposed for connection ${connection}.`);
        const answer = accept ? 'accepted' : discard ? 'discarded' : undefined;
        if (!flags.json || answer === undefined)
          await printProposed(shell, operator, connection, rules, flags);
        if (answer)
          await decideProposed(shell, operator, { connection, digest: rules.digest, answer, ...flags });
      });
    });
}

type Proposed = NonNullable<OperationOutput<typeof mappingOperations.readProposedMapping>['proposed']>;

/** Prints what is proposed, and what it would change for all people. */
async function printProposed(
  shell: Shell,
  { call }: Operator<MappingDeps>,
  connection: string,
  { digest, since, state, source, author, collection }: Proposed,
  { json }: MappingFlags,
): Promise<void> {
  const preview = await call(mappingChangeOperations, 'previewMapping', { connection, proposed: digest });
  const what = collection ? 'rules with other rows of scimUserMapping in the travel service' : 'a mapping';
  const by = author === undefined ? source : `${source}, ${author}`;
  const counting = state === 'counting' ? ' The people whom it changes are still being counted.' : '';
  const head = `Proposed since ${formatMinute(since)} (UTC) by ${by}: ${what}.${counting}`;
  printResult(
    shell,
    { json },
    { digest, since: new Date(since).toISOString(), state, source, author, preview },
    () =>
      [
        escapeLine(head),
        previewReport(preview, { connection, mapping: 'what is proposed', columns: shell.columns }),
      ].join('\n\n'),
  );
}

async function decideProposed(
  shell: Shell,
  { call }: Operator<MappingDeps>,
  {
    yes,
    json,
    ...decision
  }: { connection: string; digest: string; answer: 'accepted' | 'discarded' } & ChangeFlags,
): Promise<void> {
  const { answer, connection } = decision;
  const question = answer === 'accepted' ? 'Put it in force' : 'Discard it';
  await confirmChange(shell, `${question} for connection ${connection}?`, { yes });
  const result = await call(mappingChangeOperations, 'decideProposedMapping', decision);
  const text = {
    accepted: 'In force. A running server brings all people up to date; it begins within two seconds.',
    discarded: 'Discarded. The rules in force stay so until the content changes again.',
  };
  printResult(shell, { json }, result, () => text[answer]);
}
