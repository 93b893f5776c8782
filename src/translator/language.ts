import type { Json } from '../schema/resource.ts';
import { type Reading, unusable } from './reading.ts';
import { textOf } from './values.ts';

/** The languages of the travel service by what IdPs call them: ISO 639 codes and plain names. */
const languages = new Map([
  ...['fr', 'fra', 'fre', 'french', 'français', 'francais'].map((name) => [name, 'fr'] as const),
  ...['en', 'eng', 'english', 'anglais'].map((name) => [name, 'en'] as const),
]);

/** A language tag (`fr-CA`, `en_US`) or a list of them as in Accept-Language, of which the first counts. */
export function readLanguage(raw: Json): Reading {
  const [primary = ''] = (textOf(raw) ?? '').toLowerCase().split(/[-_,;\s]/);
  const language = languages.get(primary);
  if (language) return { value: language };
  return unusable(
    'languageUnsupported',
    'The travel service speaks English and French.',
    'Set the preferred language to en or fr in the identity provider, or language.default in the mapping.',
  );
}
