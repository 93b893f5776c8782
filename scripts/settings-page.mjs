// Writes docs/settings.md from the declarations of the environment variables and of the settings file. With --check it only
// reports whether the page is up to date.
import { z } from 'zod';
import { environmentGroups } from '../src/config/environment.ts';
import { settingsSchema } from '../src/config/schema.ts';
import { code, linksToDocuments, wrap, writeOrCheck } from './markdown.mjs';

const schema = z.toJSONSchema(settingsSchema, { io: 'input' });

writeOrCheck(
  'docs/settings.md',
  [
    '# Settings',
    wrap(
      'Every setting has a default or may be left out. If a setting is wrong, Jetbridge does not start, and prints one line for each fault, with the file, the place, the reason and a correct form. `npx jetbridge check` prints the settings in effect. `npm run docs` generates this page from the declarations that check the settings.',
    ),
    '## Environment variables',
    ...Object.entries(environmentGroups).flatMap(([title, variables]) => [
      `### ${title}`,
      ...Object.entries(variables).map(variableText),
    ]),
    '## The settings file',
    wrap(
      'The settings file is JSON. `config/jetbridge.example.json` has every key, and editors read the JSON Schema next to it (`config/jetbridge.schema.json`). In the names below, `*` is the name of a connection.',
    ),
    ...groupsOf(schema).flatMap(groupText),
  ].join('\n\n'),
);

function variableText([name, variable]) {
  const { description, defaultText } = variable.meta();
  const { type, defaultValue } = variable.def;
  return entry(name, prose(description), defaultText ?? (type === 'default' ? code(defaultValue) : 'none'));
}

/** The keys of the settings file with a plain value, and below them a group for each object. */
function groupsOf(object, path = '') {
  const members = Object.entries(object.properties).filter(([key]) => key !== '$schema');
  const plain = members.filter(([, member]) => objectIn(member) === undefined);
  const groups = members.filter(([, member]) => objectIn(member) !== undefined);
  return [
    {
      path,
      text: object.description,
      keys: plain.map(([key, member]) => ({ key: path + key, member, object })),
    },
    ...groups.flatMap(([key, member]) => {
      const inner = objectIn(member);
      const isRecord = inner !== member && inner === member.additionalProperties;
      const below = groupsOf(inner, `${path}${key}.${isRecord ? '*.' : ''}`);
      below[0].text = member.description;
      return below;
    }),
  ];
}

/** The object whose keys are settings of their own: neither a closed set of paths nor the form of a rule. */
function objectIn(member) {
  if (member.additionalProperties?.properties) return member.additionalProperties;
  const names = Object.keys(member.properties ?? {});
  return names.length > 0 && !names.includes('users') && !names.includes('claim') ? member : undefined;
}

function groupText({ path, text, keys }) {
  if (keys.length === 0) return [];
  const title = path === '' ? '### Limits' : `### ${code(path.replace(/\.$/, ''))}`;
  return [title, ...(text ? [prose(text)] : []), ...keys.map(keyText)];
}

function keyText({ key, member, object }) {
  const isRequired = object.required?.includes(key.split('.').at(-1));
  const [, text, stated] = /^(.*?)(?: Default: (.*)\.)?$/s.exec(member.description);
  const own = member.default === undefined ? undefined : code(JSON.stringify(defaultOf(member)));
  const lines = [prose(text), ...membersOf(member).map(memberText)];
  return entry(
    key,
    lines.join('\n\n'),
    isRequired ? undefined : `${stated ?? own ?? 'none'}${rangeOf(member)}`,
  );
}

function rangeOf({ minimum, maximum }) {
  return minimum === undefined || maximum === undefined ? '' : `, from ${minimum} to ${maximum}`;
}

/** The members of a setting that is either false or an object. */
function membersOf({ anyOf = [] }) {
  return anyOf.flatMap(({ properties }) => Object.entries(properties ?? {}));
}

function memberText([name, { description }]) {
  return wrap(`- ${code(name)}: ${description}`, '  ');
}

/** The default, with the defaults of the members of an object. */
function defaultOf({ default: own, anyOf = [] }) {
  if (own === false || membersOf({ anyOf }).length === 0) return own;
  return Object.fromEntries(membersOf({ anyOf }).map(([name, member]) => [name, member.default]));
}

function entry(name, text, defaultText) {
  return `#### ${code(name)}\n\n${text}\n\n${defaultText === undefined ? 'Required.' : `Default: ${escaped(defaultText)}`}`;
}

function prose(text) {
  return wrap(linksToDocuments(escaped(text), 'docs'));
}

/** Shows a placeholder such as <issuer>, which Markdown would take for an element of HTML. */
function escaped(text) {
  return text.replace(/<\w+>[\w./-]*[\w-]/g, code);
}
