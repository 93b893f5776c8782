import type { Condition, ConditionKind } from '../../model/conditions.ts';
import { type IdentityState, identityStates } from '../../model/identity.ts';
import { countText, numberText, peopleText } from '../../model/texts.ts';
import type { StoredFacts } from '../../store/condition-facts.ts';
import { stateWords, UNMANAGED } from '../people/person-texts.ts';

interface StateFacts extends Pick<StoredFacts, 'summaries' | 'connections'> {
  conditions: Condition[];
}

interface DescribedState {
  state: 'inStep' | 'working' | 'attention' | 'failing' | 'empty';
  sentence: string;
}

/** The numbers of people in the sentence tell these conditions already. */
const counted: ConditionKind[] = ['hold', 'refusedPeople'];
/** The conditions that the sentence tells; more would be no first look. */
const MAX_TOLD = 2;

/** Returns the state of the service, and a sentence about it for a person who is woken at night. */
export function describeState({ conditions, summaries, connections }: StateFacts): DescribedState {
  const failing = conditions.filter(({ severity }) => severity === 'failing');
  if (failing.length > 0) return { state: 'failing', sentence: tell(failing) };
  if (!summaries.some(({ hasUsers }) => hasUsers))
    return { state: 'empty', sentence: 'No identity provider has sent a person yet.' };
  const isUntold = ({ kind }: Condition) => !counted.includes(kind);
  const warnings = conditions.filter(isUntold);
  const { sentence, isOpen } = peopleSentence(summaries, connections);
  if (isOpen || warnings.length > 0)
    return {
      state: 'attention',
      sentence: [sentence, tell(warnings)].filter((text) => text !== '').join(' '),
    };
  return { state: sumOf(summaries, 'dirty') > 0 ? 'working' : 'inStep', sentence };
}

function tell(conditions: Condition[]): string {
  const told = [...new Set(conditions.map(({ text }) => text))].slice(0, MAX_TOLD);
  const more = conditions.filter(({ text }) => !told.includes(text)).length;
  const rest = more > 0 ? [`${countText(more, 'more condition is', 'more conditions are')} open.`] : [];
  return [...told, ...rest].join(' ');
}

type Summaries = StateFacts['summaries'];

/** Tells the people in numbers. `isOpen`: some of them need an admin, or wait for something. */
function peopleSentence(
  summaries: Summaries,
  connections: StateFacts['connections'],
): { sentence: string; isOpen: boolean } {
  const failing = summaries.reduce((sum, one) => sum + (one.failing?.people ?? 0), 0);
  const inShadow = connections.filter(({ mode }) => mode === 'shadow');
  const waiting = sumOf(
    summaries.filter((one) => inShadow.some(({ connection }) => connection === one.connection)),
    'dirty',
  );
  const sent = inShadow.some(({ pilot }) => pilot !== undefined) ? 'the pilot alone' : 'nothing';
  const of = (state: IdentityState) => sumOf(summaries, state);
  const told = (state: IdentityState) =>
    of(state) > 0 && `${countText(of(state), 'is', 'are')} ${stateWords[state]}`;
  const open = [
    inShadow.length > 0 && `${countText(waiting, 'waits', 'wait')} in shadow mode, where ${sent} is sent`,
    failing > 0 && `${countText(failing, 'waits', 'wait')} after a failed attempt`,
    ...(['held', 'refused', 'pending'] as const).map(told),
  ].filter((part) => part !== false);
  const total = identityStates.reduce((sum, state) => sum + of(state), 0);
  const inStep = `${numberText(of('synced'))} of ${peopleText(total)} ${of('synced') === 1 ? 'is' : 'are'} ${stateWords.synced} with the travel service`;
  if (open.length > 0) return { isOpen: true, sentence: `${inStep}; ${open.join(', ')}.` };
  if (of('dirty') > 0)
    return {
      isOpen: false,
      sentence: `${peopleText(of('dirty'))} ${of('dirty') === 1 ? 'is' : 'are'} ${stateWords.dirty}: their changes are on the way to the travel service.`,
    };
  const all = total === 1 ? 'The only person is' : `All ${peopleText(total)} are`;
  const withFindings = summaries.reduce((sum, one) => sum + one.withFindings, 0);
  const more = summaries.some(({ areFindingsCut }) => areFindingsCut) ? 'more than ' : '';
  const findings = withFindings > 0 ? `; ${more}${countText(withFindings, 'has', 'have')} findings` : '';
  const others = summaries.reduce((sum, one) => sum + one.unmanaged, 0);
  const unmanaged = others > 0 ? `; ${countText(others, 'is', 'are')} ${UNMANAGED}` : '';
  return {
    isOpen: false,
    sentence: `${all} ${stateWords.synced} with the travel service${findings}${unmanaged}.`,
  };
}

function sumOf(summaries: Summaries, state: IdentityState): number {
  return summaries.reduce((sum, { states }) => sum + states[state], 0);
}
