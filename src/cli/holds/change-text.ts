import type { HeldRules } from '../../provisioning/holds/holds.ts';
import type { FieldEffect, RulesEffect } from '../../provisioning/holds/rules-effect.ts';
import { fieldLabel as fieldName, valueText } from '../../provisioning/rules/value-texts.ts';
import { countText, escapeLine } from '../output.ts';

/** The number of people whom a held change of rules affects: "more than 100" until all are counted. */
export function affectedText({ people, effect }: HeldRules): string {
  return people > 100 && !effect?.isComplete ? 'more than 100' : String(people);
}

/** The same with its noun. */
export function affectedPeopleText(held: HeldRules): string {
  return `${affectedText(held)} ${held.people === 1 ? 'person' : 'people'}`;
}

/** Says whom a held change of rules affects and what has caused it, with its fields and their most frequent values. */
export function changeText(held: HeldRules, causedBy: string): string {
  const { connection, effect } = held;
  return [
    `${connection}: a change of rules would change ${affectedPeopleText(held)}.`,
    `  caused by    ${escapeLine(causedBy)}`,
    ...(effect?.isComplete ? [] : [`  counting     ${progressText(effect)}`]),
    ...(effect?.fields ?? []).map((field) => `  ${fieldText(field, effect?.names ?? {})}`),
  ].join('\n');
}

/** Examples of the people whom a held change of rules affects, each with the values before and after. */
export function exampleLines({ effect }: HeldRules): string[] {
  const { examples = [], names = {} } = effect ?? {};
  return examples.map(({ id, userName, changes }) => {
    const values = changes.map(
      ({ field, before, after }) =>
        `${fieldName(field, names)} ${valueText(before, names)} → ${valueText(after, names)}`,
    );
    return `  e.g. ${escapeLine(userName)} (${id}): ${values.join(', ')}`;
  });
}

function progressText(effect: RulesEffect | undefined): string {
  if (!effect) return 'a running server counts all people whom it affects';
  const looked = countText(effect.looked, 'person was', 'people were');
  return `${looked} looked at so far, ${effect.people} of them would change; look again`;
}

function fieldText({ field, people, values, others }: FieldEffect, names: RulesEffect['names']): string {
  const pairs = values.map(
    ({ before, after, people: count }) =>
      `${valueText(before, names)} → ${valueText(after, names)} (${count})`,
  );
  const rest = others > 0 ? [`other values (${others})`] : [];
  return `${fieldName(field, names)}: ${countText(people, 'person', 'people')}: ${[...pairs, ...rest].join(', ')}`;
}
