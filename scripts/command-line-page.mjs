// Writes the commands of docs/command-line.md from their declarations. With --check it only reports whether the page is up to date.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createProgram, defineCommand } from '../src/cli/cli.ts';
import { code, wrap, writeOrCheck } from './markdown.mjs';

const page = 'docs/command-line.md';
const root = join(fileURLToPath(import.meta.url), '../..');
const section = /(<!-- commands -->\n)[\s\S]*?(<!-- end of commands -->)/;

const shell = { environment: {}, home: root, isTerminal: false, print: () => {}, printError: () => {} };
const program = createProgram(shell, () => async () => {});
for (const command of program.commands) await defineCommand(program, command);

const present = readFileSync(join(root, page), 'utf8');
if (!section.test(present)) throw new Error(`${page} has no place for the commands.`);
const text = program.commands.flatMap((command) => commandText(command, '###')).join('\n\n');
writeOrCheck(
  page,
  present.replace(section, (_all, begin, end) => `${begin}\n${text}\n\n${end}`),
);

/** A command with its options, then the commands of its group. */
function commandText(command, heading, group = '') {
  const path = `${group}${command.name()}`;
  const options = command.options.filter(({ hidden }) => !hidden);
  const inputs = [...command.registeredArguments.map(argumentText), ...options.map(optionText)];
  const shown = examplesOf(command);
  return [
    [
      `${heading} ${code(path)}`,
      wrap(`${sentence(command.description())}${defaultNote(command)}`),
      ...(inputs.length > 0 ? [inputs.join('\n')] : []),
      ...(shown.length > 0 ? [`\`\`\`sh\n${shown.join('\n')}\n\`\`\``] : []),
    ].join('\n\n'),
    ...command.commands.flatMap((child) => commandText(child, `${heading}#`, `${path} `)),
  ];
}

/** Commander keeps the default command of a group in a private member only. */
function defaultNote({ commands, _defaultCommandName: name }) {
  return commands.some((child) => child.name() === name) ? ` Without a command it is ${code(name)}.` : '';
}

function argumentText(argument) {
  const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
  return item(argument.required ? `<${name}>` : `[${name}]`, argument.description);
}

function optionText({ flags, description, mandatory, defaultValue, argChoices }) {
  const isShown = ['string', 'number'].includes(typeof defaultValue);
  const notes = [
    ...(mandatory ? ['required'] : []),
    ...(argChoices ? [`one of ${argChoices.map(code).join(', ')}`] : []),
    ...(isShown ? [`default: ${code(defaultValue)}`] : []),
  ];
  return item(flags, [description, ...notes].join('; '));
}

function item(name, text) {
  return wrap(`- ${code(name)}: ${text}`, '  ');
}

/** The examples of a command, from its help. */
function examplesOf(command) {
  let help = '';
  command.configureOutput({ writeOut: (part) => (help += part), getOutHelpWidth: () => 200 });
  command.outputHelp();
  const [, examples = ''] = help.split(/^Examples?:$/m);
  return examples.split('\n').flatMap((line) => (line.startsWith('  npx jetbridge ') ? [line.trim()] : []));
}

function sentence(description) {
  return `${description[0].toUpperCase()}${description.slice(1)}.`;
}
