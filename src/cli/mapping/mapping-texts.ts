import { authorOf, countRules, type MappingDifference } from '../../provisioning/rules/mapping-versions.ts';
import type { MappingPreview } from '../../provisioning/rules/preview-mapping.ts';
import { needsApproval } from '../../provisioning/rules/rules-change.ts';
import type { MappingVersion } from '../../store/queues/rules-in-force.ts';
import type { OtherRule } from '../../translator/mapping/default-rules.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';
import { countText, escapeLine, formatMinute, formatTable } from '../output.ts';
import { fieldName, type PreviewSubject, previewReport } from './preview.ts';

/** Formats the effect of a change of mapping: the report of the preview, the removed values, and whether it is held. */
export function planText(
  preview: MappingPreview,
  subject: Omit<PreviewSubject, 'mapping'> & { mapping: string },
): string {
  return [
    previewReport(preview, subject),
    ...removalLines(preview),
    ...(needsApproval(preview) ? [approvalText(subject.connection)] : []),
  ].join('\n\n');
}

/** Formats every rule that is in force with a mapping: its own, those of the collection, and the default rules. */
export function allRulesText(
  { scimUserMapping, $schema: _, ...settings }: Mapping,
  others: OtherRule[],
): string {
  const used = others.filter(({ use }) => use !== 'replaced');
  const linesOf = (origin: OtherRule['origin']) =>
    used.filter((rule) => rule.origin === origin).map(otherRuleText);
  const replaced = [...new Set(others.filter(({ use }) => use === 'replaced').map(({ field }) => field))];
  const sections = [
    [
      'Rules of the mapping, the first that applies is used:',
      scimUserMapping.map((rule) => `  ${jsonText(rule)}`),
    ],
    ['Rules of the collection scimUserMapping in the travel service:', linesOf('collection')],
    ['Default rules, as a mapping file could have them:', linesOf('default')],
    [
      'Settings of the mapping:',
      Object.entries(settings).map(([name, value]) => `  ${name}: ${jsonText(value)}`),
    ],
    [
      'Fields whose default rule is not used, because a rule above sets them:',
      replaced.map((field) => `  ${field}`),
    ],
  ] as const;
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([head, lines]) => [head, ...lines].join('\n'))
    .join('\n\n');
}

function otherRuleText({ field, use, written, others, setting }: OtherRule): string {
  const further = [...others, ...(setting === undefined ? [] : [setting])].join(', then ');
  const rule = written ? jsonText(written) : `${field}: ${further}`;
  return [
    `  ${rule}`,
    ...(written && further !== '' ? [`    then ${further}`] : []),
    ...(use === 'otherwise' ? ['    if no condition of the rules above holds'] : []),
  ].join('\n');
}

function removalLines({ fields, names }: MappingPreview): string[] {
  const removals = fields.filter(({ cleared }) => cleared > 0);
  if (removals.length === 0) return [];
  const lines = removals.map(
    ({ field, cleared }) => `  ${fieldName(field, names)}: ${countText(cleared, 'person', 'people')}`,
  );
  return [['Values that would be removed:', ...lines].join('\n')];
}

/** Says which values later mappings leave in the travel service after a restore. `isPutBack`: what they have replaced is put back. */
export function leftValuesText({ fields, names }: MappingPreview, isPutBack: boolean): string {
  const left = fields.filter(({ released }) => released > 0);
  const lines = left.map(
    ({ field, released }) => `  ${fieldName(field, names)}: ${countText(released, 'person', 'people')}`,
  );
  if (isPutBack)
    return [
      'Values that later mappings have replaced are put back. A value stays if somebody has entered it in the travel service since then, and if the bridge created the traveler with it.',
      ...(left.length > 0 ? ['Fields that are given up afterwards:', ...lines] : []),
    ].join('\n');
  if (left.length === 0) return 'No value of a later mapping stays in a field that is given up.';
  return [
    'Fields that are given up keep the values of the later mappings; --values puts back what those have replaced:',
    ...lines,
  ].join('\n');
}

function approvalText(connection: string): string {
  return [
    'More than 100 people would change, so the change waits for approval once the mapping is in force:',
    `  npx jetbridge holds approve --cause rules --connection ${connection}`,
  ].join('\n');
}

/** Says that a mapping is in force, and when people follow. `isHeld`: the change of people waits for approval. */
export function appliedText(connection: string, version: number, isHeld: boolean): string {
  const effect = isHeld
    ? 'People follow within a minute after the approval.'
    : 'A running server brings all people up to date; it begins within a minute.';
  return [
    `In force for connection ${connection}, as version ${version}. ${effect}`,
    `Go back with "npx jetbridge mapping history" and "npx jetbridge mapping restore".`,
  ].join('\n');
}

/** Formats the history of a mapping as a table, the newest first. */
export function historyTable(versions: MappingVersion[], columns?: number): string {
  const head = ['version', 'since (UTC)', 'source', 'by', 'digest', 'rules'];
  const rows = versions.map((version) => [
    String(version.number),
    formatMinute(version.appliedAt),
    version.source,
    version.author ?? '-',
    version.digest,
    String(countRules(version)),
  ]);
  return formatTable(head, rows, columns);
}

/** Explains that another change of the mapping came first: by whom, when, and what it changed. */
export function conflictText(
  { number, appliedAt, ...origin }: MappingVersion,
  { addedRules, removedRules, members }: MappingDifference,
): string {
  const by = escapeLine(authorOf(origin));
  const lines = [
    ...addedRules.map((rule) => `  + ${jsonText(rule)}`),
    ...removedRules.map((rule) => `  - ${jsonText(rule)}`),
    ...members.map(({ name, before, after }) => `  ${name}: ${jsonText(before)} → ${jsonText(after)}`),
  ];
  return [
    `Nothing was applied: the mapping was changed meanwhile, by ${by} at ${formatMinute(appliedAt)} (UTC), version ${number}:`,
    ...(lines.length > 0 ? lines : ['  the order of the rules']),
    'Look at it with "npx jetbridge mapping show", add its changes to yours, and apply again.',
  ].join('\n');
}

function jsonText(value: unknown): string {
  return escapeLine(JSON.stringify(value) ?? 'nothing');
}
