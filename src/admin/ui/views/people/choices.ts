import type { PeopleCounts, Person } from '../../../contract/people.ts';
import type { Input } from '../../api.ts';
import { numberText, toWords } from '../../components/texts.ts';
import { stateMarks } from './texts.ts';

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
