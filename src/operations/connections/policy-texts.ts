import { connectionSchema, policiesSchema } from '../../config/connection-schema.ts';
import type { Policies, policyChoices, ScimProfileName } from '../../model/policies.ts';
import { countText, peopleText } from '../../model/texts.ts';

type Choices = typeof policyChoices;

/** The effect of each choice of a policy. */
const choiceTexts: { [Name in keyof Choices]: Record<Choices[Name][number], string> } = {
  deprovision: {
    archive: 'When a user is deleted, the traveler is archived.',
    delete: 'When a user is deleted, the traveler is deleted.',
  },
  drift: {
    report: 'A field that was changed in the travel service stays, and is reported.',
    correct: 'A field that was changed in the travel service is changed back.',
  },
};

/** A policy with its value as in the settings file, what that does, and what else could be chosen. */
interface DescribedPolicy {
  name: string;
  /** The description in the schema of the settings. */
  description: string;
  value: unknown;
  text: string;
  /** Empty for the safety valve, which has numbers. */
  choices: { value: string; text: string }[];
}

/** Describes what the policies of a connection do with its travelers, in the order of the settings. */
export function describePolicies(policies: Policies): DescribedPolicy[] {
  return Object.entries(policiesSchema.shape).map(([name, { description = '' }]) => {
    if (name === 'safetyValve') {
      const { safetyValve: valve } = policies;
      const value = valve && {
        ...{ share: valve.share, minimum: valve.minimum, windowMinutes: valve.windowMs / 60_000 },
      };
      return { name, description, value: value ?? false, text: valveText(valve), choices: [] };
    }
    const texts: Record<string, string> = choicesOf(name);
    const value = policies[name as keyof Policies]; // The schema has the policies.
    const choices = Object.entries(texts).map(([one, text]) => ({ value: one, text }));
    return { name, description, value, text: texts[String(value)] ?? '', choices };
  });
}

const profileTexts: Record<ScimProfileName, string> = {
  interoperable: 'What identity providers send is accepted, also where it departs from the standard.',
  strict:
    'What the SCIM interoperability profile forbids is refused, and the error says what would be right.',
};

/** Describes which SCIM requests a connection accepts, in the form of a policy. */
export function describeScimProfile(value: ScimProfileName): DescribedPolicy {
  const { description = '' } = connectionSchema.shape.scim;
  const choices = Object.entries(profileTexts).map(([one, text]) => ({ value: one, text }));
  return { name: 'scim', description, value, text: profileTexts[value], choices };
}

function choicesOf(name: string): Record<string, string> {
  return choiceTexts[name as keyof Choices]; // Every other policy is a choice.
}

function valveText(valve: Policies['safetyValve']): string {
  if (!valve) return 'Any number of people may leave at once.';
  const minutes = countText(valve.windowMs / 60_000, 'minute', 'minutes');
  return `When more than ${peopleText(valve.minimum)} and more than ${percentage(valve.share)} of all leave within ${minutes}, the others wait for an admin.`;
}

function percentage(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
