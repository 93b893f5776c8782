import type { FindingValue, PeopleCounts, Person } from '../../../../operations/people/people.ts';
import type { PersonExplanation, PersonField } from '../../../../operations/people/person.ts';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import {
  originTexts,
  referenceTexts,
  stateWords,
  statusOfListed,
  statusWord,
  UNMANAGED,
  UNMANAGED_TEXT,
} from '../../../../provisioning/people/person-texts.ts';
import {
  countText,
  findingLabel,
  type Mark,
  numberText,
  toChoices,
  withLocalTimes,
} from '../../components/texts.ts';
import type { Input, Result } from '../../requests/api.ts';
import { appliedText } from '../mappings/rules/rule-words.ts';

type AppliedRule = PersonField['rules'][number];
type Names = PersonExplanation['names'];
type Verdict = PersonExplanation['verdict'];
type Reference = PersonExplanation['references'][number];

/** The symbols and colors of the statuses. */
const statusMarks: Record<Verdict['status'], Omit<Mark, 'label'>> = {
  synced: { symbol: '✓' },
  archived: { symbol: '–' },
  noTraveler: { symbol: '○', color: 'yellow' },
  waiting: { symbol: '↻', color: 'blue' },
  held: { symbol: '‖', color: 'yellow' },
  refused: { symbol: '✗', color: 'red' },
  outOfScope: { symbol: '⊘' },
  imported: { symbol: '⇣' },
};

/** The mark of a person whose explanation is shown. */
export function markOfExplained({ verdict, state }: Pick<PersonExplanation, 'verdict' | 'state'>): Mark {
  return markOf(verdict.status, state);
}

/** The mark of a person in a list. */
export function markOfPerson(person: Person): Mark {
  return markOf(statusOfListed(person), person.state);
}

function markOf(status: Verdict['status'], state: Person['state']): Mark {
  return { ...statusMarks[status], label: statusWord(status, state) };
}

/** The words of the states by which the list of people is filtered. */
export const stateFilters: Record<NonNullable<Input<'listPeople'>['state']>, string> = {
  ...stateWords,
  unmanaged: UNMANAGED,
};

/** Returns the sentence with the number of people in a list, and of those with findings. */
export function peopleCountText({ people, withFindings, isMore }: Result<'countSelectedPeople'>): string {
  const more = isMore ? 'More than ' : '';
  const findings =
    withFindings === 0
      ? 'none of them with findings'
      : `${more.toLowerCase()}${numberText(withFindings)} of them with findings`;
  return people === 0 && !isMore
    ? 'Nobody.'
    : `${more}${countText(people, 'person', 'people')}, ${findings}.`;
}

/** Returns the sentence that follows the state of a person: the reason, or that there is none to tell. */
export function reasonText({ verdict, state, findings, isDeleted }: PersonExplanation): string {
  const { status, because } = verdict;
  const deleted = isDeleted && status !== 'archived' ? 'Deleted by the identity provider. ' : '';
  if (because !== undefined)
    return `${deleted}${labelOf(status, state)}, because ${withLocalTimes(because, Date.now())}.`;
  if (status === 'imported') return UNMANAGED_TEXT;
  if (findings.length === 0) return `${deleted}The traveler has all values of the identity provider.`;
  const count = findings.length === 1 ? 'one finding' : `${findings.length} findings`;
  return `${deleted}In step with the travel service, with ${count}.`;
}

/** The event whose time is `lastModified`, as a label of that time. */
export function changeText({ verdict }: Pick<PersonExplanation, 'verdict'>): string {
  return verdict.status === 'imported'
    ? 'last change in the travel service'
    : 'last change by the identity provider';
}

function labelOf(status: Verdict['status'], state: Person['state']): string {
  const label = statusWord(status, state);
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}

export const standingMarks: Record<PersonField['standing'], Mark> = {
  same: { symbol: '✓', label: '' },
  drift: { symbol: '⚠', label: 'drift', color: 'orange' },
  uncertain: { symbol: '?', label: 'outcome unknown', color: 'orange' },
  refused: { symbol: '✗', label: 'refused', color: 'red' },
  notSent: { symbol: '↻', label: 'not sent yet', color: 'blue' },
  notApplied: { symbol: '✗', label: 'not applied', color: 'red' },
  leftOut: { symbol: '✗', label: 'left out', color: 'red' },
  imported: { symbol: '⇣', label: 'as it was found' },
  unread: { symbol: '?', label: 'must be read again' },
  foreign: { symbol: '–', label: 'by hand' },
};

/** Returns a value of the travel service, which says of a traveler that it is archived or not. */
export function travelValue({ field }: PersonField, value: unknown): unknown {
  if (field !== 'archived' || typeof value !== 'boolean') return value;
  return value ? 'archived' : 'not archived';
}

/** True for a value that was never sent, because the traveler had it when the identity provider gave it. */
export function wasThereBefore({ standing, sent }: PersonField): boolean {
  return standing === 'same' && sent === undefined;
}

const referenceSymbols: Record<Reference['standing'], string> = {
  resolved: '✓',
  unknown: '↻',
  notLinked: '↻',
  self: '✗',
  circle: '✗',
};

/** Describes how a manager that a user names stands, after a symbol. */
export function referenceText({ standing }: Reference): string {
  return `${referenceSymbols[standing]} ${referenceTexts[standing]}`;
}

/** Returns the field and value of a finding by which people are selected. */
export function findingFilterText({
  field,
  value,
}: {
  field?: string | undefined;
  value?: string | undefined;
}): string {
  return [field === '*' ? 'all fields' : field, value].filter((part) => part !== undefined).join(': ');
}

/** Returns the address of the people who have a finding with a value; without one, of those with that finding of the field. */
export function findingValueHref({ connection, code, field, value }: FindingValue): string {
  return `~/admin/people?${new URLSearchParams({ connection, finding: code, field, ...(value !== '' && { value }) })}`;
}

/** Returns the ids of a value for which `valueText` shows names. */
export function idsIn(value: unknown, names: Names): string[] {
  if (typeof value === 'string') return value in names ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((one) => idsIn(one, names));
}

export function ruleText({ origin, rule }: AppliedRule): string {
  return `${originTexts[origin]}: ${appliedText(rule)}`;
}

/** Returns the outcome of an exchange: the symbol tells a success from a failure. */
export function answerText({ status, error }: Pick<Exchange, 'status' | 'error'>): string {
  const isFailed = status === undefined || status >= 400;
  return [isFailed ? '✗' : '✓', String(status ?? 'no answer'), ...(error ? [error] : [])].join(' ');
}

/** A choice of a filter. */
export interface Choice {
  value: string;
  label: string;
}

/** The choices of the filters with the number of people of each. States and findings are those of the chosen connection. */
export function filterChoices(
  all: PeopleCounts[],
  { connection, finding }: Pick<Input<'listPeople'>, 'connection' | 'finding'>,
): Record<'connections' | 'states' | 'findings', Choice[]> {
  const chosen = all.filter((one) => connection === undefined || one.connection === connection);
  const findings = new Map<string, number>();
  for (const { code, people } of chosen.flatMap((one) => one.findings))
    findings.set(code, (findings.get(code) ?? 0) + people);
  // A link can name a finding that nobody has any more.
  if (finding !== undefined && !findings.has(finding)) findings.set(finding, 0);
  const more = chosen.some(({ areFindingsCut }) => areFindingsCut) ? '+' : '';
  return {
    connections: all.map(({ connection: id, people }) => ({
      value: id,
      label: `${id} (${numberText(people)})`,
    })),
    states: toChoices(stateFilters).map(({ value, label }) => {
      const people = chosen.reduce((sum, { states, unmanaged }) => sum + { ...states, unmanaged }[value], 0);
      return { value, label: `${label} (${numberText(people)})` };
    }),
    findings: [...findings]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([code, people]) => ({
        value: code,
        label: `${findingLabel(code)} (${numberText(people)}${more})`,
      })),
  };
}
