import type { FindingValue, PeopleCounts, Person } from '../../../../operations/people/people.ts';
import type { PersonExplanation, PersonField } from '../../../../operations/people/person.ts';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import {
  IMPORTED_TEXT,
  originTexts,
  referenceTexts,
  statusTexts,
} from '../../../../provisioning/people/person-texts.ts';
import {
  countText,
  type Mark,
  numberText,
  toWords,
  withLocalTimes,
  withShortUrns,
} from '../../components/texts.ts';
import type { Input, Result } from '../../requests/api.ts';

type AppliedRule = PersonField['rules'][number];
type Names = PersonExplanation['names'];
type Verdict = PersonExplanation['verdict'];
type Reference = PersonExplanation['references'][number];

/** The symbols and colors of the statuses. */
const statusMarks: Record<Verdict['status'], Omit<Mark, 'label'>> = {
  synced: { symbol: '✓', color: 'green' },
  archived: { symbol: '–', color: 'gray' },
  noTraveler: { symbol: '○', color: 'yellow' },
  waiting: { symbol: '↻', color: 'blue' },
  held: { symbol: '‖', color: 'orange' },
  refused: { symbol: '✗', color: 'red' },
  outOfScope: { symbol: '⊘', color: 'gray' },
  imported: { symbol: '⇣', color: 'gray' },
};

export function markOfVerdict({ status }: Verdict): Mark {
  return { ...statusMarks[status], label: statusTexts[status] };
}

/** The states of people, as the filter of the list offers them. */
export const stateMarks: Record<Person['state'], Mark> = {
  synced: markOfVerdict({ status: 'synced' }),
  dirty: markOfVerdict({ status: 'waiting' }),
  pending: markOfVerdict({ status: 'noTraveler' }),
  refused: markOfVerdict({ status: 'refused' }),
  held: markOfVerdict({ status: 'held' }),
};

export function markOfPerson({ state, isActive, isDeleted, findings }: Person): Mark {
  if (state === 'synced' && findings.some(({ code }) => code === 'outOfScope'))
    return markOfVerdict({ status: 'outOfScope' });
  if (state !== 'synced' || (isActive && !isDeleted)) return stateMarks[state];
  return { ...statusMarks.archived, label: isDeleted ? 'deleted' : 'inactive' };
}

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
export function reasonText({ verdict, findings, isDeleted }: PersonExplanation): string {
  const { status, because } = verdict;
  const deleted = isDeleted && status !== 'archived' ? 'Deleted by the identity provider. ' : '';
  if (because !== undefined)
    return `${deleted}${labelOf(status)}, because ${withLocalTimes(because, Date.now())}.`;
  if (status === 'imported') return IMPORTED_TEXT;
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

function labelOf(status: Verdict['status']): string {
  const label = statusTexts[status];
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}

export const standingMarks: Record<PersonField['standing'], Mark> = {
  same: { symbol: '✓', label: '', color: 'green' },
  drift: { symbol: '⚠', label: 'drift', color: 'orange' },
  uncertain: { symbol: '?', label: 'outcome unknown', color: 'orange' },
  refused: { symbol: '✗', label: 'refused', color: 'red' },
  notSent: { symbol: '↻', label: 'not sent yet', color: 'blue' },
  notApplied: { symbol: '✗', label: 'not applied', color: 'red' },
  leftOut: { symbol: '✗', label: 'left out', color: 'red' },
  imported: { symbol: '⇣', label: 'as imported', color: 'gray' },
  unread: { symbol: '?', label: 'must be read again', color: 'gray' },
  foreign: { symbol: '–', label: 'by hand', color: 'gray' },
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
  return `/?${new URLSearchParams({ connection, finding: code, field, ...(value !== '' && { value }) })}`;
}

/** Returns the ids of a value for which `valueText` shows names. */
export function idsIn(value: unknown, names: Names): string[] {
  if (typeof value === 'string') return value in names ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((one) => idsIn(one, names));
}

export function ruleText({ origin, rule }: AppliedRule): string {
  return `${originTexts[origin]}: ${withShortUrns(rule)}`;
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
    states: stateNames.map((state) => {
      const people = chosen.reduce((sum, { states }) => sum + states[state], 0);
      const { symbol, label } = stateMarks[state];
      return { value: state, label: `${symbol} ${label} (${numberText(people)})` };
    }),
    findings: [...findings]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([code, people]) => ({ value: code, label: `${toWords(code)} (${numberText(people)}${more})` })),
  };
}

const stateNames: Person['state'][] = ['synced', 'dirty', 'pending', 'refused', 'held'];
