import { fieldLabel, shownText } from '../../model/value-texts.ts';
import type { mappingChangeOperations } from '../../operations/mappings/mapping-changes.ts';
import type { mappingOperations } from '../../operations/mappings/mappings.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import { effectSentence, effectTexts } from '../../provisioning/mapping-changes/mapping-texts.ts';
import { countText, escapeLine, formatTable } from '../terminal/output.ts';

type Preview = OperationOutput<typeof mappingChangeOperations.previewMapping>;
type Finding = Preview['examples'][number]['comes'][number];
type OtherRule = OperationOutput<typeof mappingOperations.listOtherRules>['rules'][number];

/** The mapping that a preview is about. */
interface Subject {
  connection: string;
  /** The name of the new mapping; undefined if the mapping in force was compared with what was sent last. */
  mapping: string | undefined;
  /** The width of the terminal; undefined if there is none. */
  columns: number | undefined;
}

/** Formats a preview: the effect in a sentence, the findings that come and go, then examples. */
export function previewReport(preview: Preview, { connection, mapping, columns }: Subject): string {
  const { findings, examples, names } = preview;
  const { removed, released } = effectTexts(preview);
  const compared = mapping === undefined ? 'the mapping in force, beside what was sent' : mapping;
  const rows = findings.map(({ code, field, comes, goes }) => [
    ...[code, fieldLabel(field, names)],
    ...[String(comes), String(goes)],
  ]);
  return [
    `Connection ${connection}: ${compared}. Nothing is written or sent by this.`,
    effectSentence(preview),
    ...[removed, released].filter((text) => text !== undefined),
    ...(preview.needsApproval
      ? [
          `More than 100 people would change, so the change waits for "npx jetbridge mapping proposed --accept --connection ${connection}".`,
        ]
      : []),
    ...(rows.length > 0 ? [formatTable(['finding', 'field', 'new', 'gone'], rows, columns)] : []),
    ...(examples.length > 0 ? [`${countText(examples.length, 'example')}:`] : []),
    ...examples.map((example) => exampleText(example, names)),
  ].join('\n\n');
}

const outcomes = {
  changed: '',
  created: ' gets a traveler',
  pending: ' gets no traveler any more',
  outOfScope: ' is out of scope',
} satisfies Record<Preview['examples'][number]['outcome'], string>;

function exampleText(
  { userName, outcome, changes, ...findings }: Preview['examples'][number],
  names: Preview['names'],
): string {
  const findingText = (mark: string, { field, code, value, reason }: Finding) =>
    `  ${mark} ${fieldLabel(field, names)}${value === undefined ? '' : ` ${shownText(value, names)}`}: ${reason} [${code}]`;
  return [
    `${userName}${outcomes[outcome]}`,
    ...changes.map(({ field, before, after, isAgain }) => {
      const change = isAgain ? 'sent again' : `${shownText(before, names)} →`;
      return `  ${fieldLabel(field, names)}: ${change} ${shownText(after, names)}`;
    }),
    ...findings.comes.map((finding) => findingText('+', finding)),
    ...findings.goes.map((finding) => findingText('-', finding)),
  ]
    .map(escapeLine)
    .join('\n');
}

/** Formats every rule that is in force with a mapping: its own, those of the collection, and the default rules. */
export function allRulesText(text: string, others: readonly OtherRule[]): string {
  const { scimUserMapping = [], $schema: _, ...settings } = Object(JSON.parse(text));
  const used = others.filter(({ use }) => use !== 'replaced');
  const replaced = others.filter(({ use }) => use === 'replaced').map(({ field }) => field);
  const linesOf = (origin: OtherRule['origin']) =>
    used.filter((rule) => rule.origin === origin).flatMap(otherRuleLines);
  const sections: [title: string, lines: string[]][] = [
    ['Rules of the mapping, the first that applies is used:', scimUserMapping.map(toJson)],
    ['Rules of the collection scimUserMapping in the travel service:', linesOf('collection')],
    ['Default rules, as a mapping file could have them:', linesOf('default')],
    [
      'Settings of the mapping:',
      Object.entries(settings).map(([name, value]) => `${name}: ${toJson(value)}`),
    ],
    ['Fields whose default rule is not used, because a rule above sets them:', [...new Set(replaced)]],
  ];
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [title, ...lines.map((line) => `  ${escapeLine(line)}`)].join('\n'))
    .join('\n\n');
}

function otherRuleLines({ field, use, written, others, setting }: OtherRule): string[] {
  const further = [...others, ...(setting === undefined ? [] : [setting])].join(', then ');
  return [
    written ? toJson(written) : `${field}: ${further}`,
    ...(written && further !== '' ? [`  then ${further}`] : []),
    ...(use === 'otherwise' ? ['  if no condition of the rules above holds'] : []),
  ];
}

function toJson(value: unknown): string {
  return JSON.stringify(value);
}
