import { z } from 'zod';
import { isDateFormat } from './dates.ts';
import { told } from './mapping-faults.ts';
import { compilePattern, missingGroup } from './pattern.ts';
import { isPhoneCountry } from './phone.ts';
import { type OptionTransforms, type PlainTransform, plainTransforms } from './transforms.ts';

/** The code of a country whose phone numbers are known. */
export const countrySchema = z.string().refine(isPhoneCountry, {
  message: told('is not the code of a country', 'Write two capital letters (ISO 3166-1), e.g. FR.'),
});

const replacement = z
  .strictObject({
    pattern: z.string().max(1000).describe('A regular expression (RE2 syntax).'),
    with: z
      .string()
      .max(200)
      .describe('What takes the place of every match; $1 is the first group, $& the whole match.'),
  })
  .superRefine((option, context) => {
    const pattern = compilePattern(option.pattern);
    if (typeof pattern === 'string') {
      const message = told(
        pattern,
        'Write a regular expression in RE2 syntax: no look-around, no back references.',
      );
      context.addIssue({ code: 'custom', path: ['pattern'], message });
      return;
    }
    const group = missingGroup(pattern, option.with);
    if (group === undefined) return;
    const problem = `names the group $${group}, which the pattern does not have`;
    const message = told(
      problem,
      `Name a group of the pattern, which has ${pattern.groupCount()}, or write $& for the whole match.`,
    );
    context.addIssue({ code: 'custom', path: ['with'], message });
  });

const options = {
  date: z
    .string()
    .refine(isDateFormat, {
      message: told('is not a date format', 'Name YYYY, MM and DD once each, e.g. DD/MM/YYYY.'),
    })
    .describe('How the date is written, e.g. DD/MM/YYYY.'),
  phone: countrySchema.describe('The country whose national way of writing is meant, e.g. FR.'),
  prefix: z.string().min(1).max(1000).describe('A text to put in front.'),
  replace: replacement,
  map: z.record(z.string(), z.string()).describe('Values by what they become; any other value is left out.'),
  default: z
    .string()
    .min(1)
    .max(1000)
    .describe('The value where there is none, or where it was left out before.'),
} satisfies { [Name in keyof OptionTransforms]: z.ZodType<OptionTransforms[Name]> };

const known = [...Object.keys(plainTransforms), ...Object.keys(options).map((name) => `{ "${name}": … }`)];

/** One transform of a rule: a name, or an object of one name with its option. */
export const transformSchema = z.union(
  [
    z.literal(Object.keys(plainTransforms).filter(isPlainTransform)),
    z
      .strictObject(options)
      .partial()
      .refine((transform) => Object.keys(transform).length === 1, {
        message: told('is not one transform', 'Write each transform as an element of its own.'),
        when: ({ issues }) => issues.length === 0,
      }),
  ],
  { error: told('is not a transform', `Write one of ${known.join(', ')}.`) },
);

function isPlainTransform(name: string): name is PlainTransform {
  return Object.hasOwn(plainTransforms, name);
}
