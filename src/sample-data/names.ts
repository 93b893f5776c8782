import type { Faker } from '@faker-js/faker';

/** A country where the company has people: how they are called, and where they live. */
export interface Population {
  country: string;
  /** Its language, as far as the service speaks it. */
  lang: 'en' | 'fr';
  currency: string;
  /** The form of a company there. */
  form: string;
  /** Its name as part of a company's. */
  name: string;
  weight: number;
  /** The numbers that its authority keeps for films and books: nobody has them, so nobody is ever called. */
  phone?: { prefix: string; digits: number };
}

/** The countries of the company, the largest first. */
export const populations: Population[] = [
  {
    ...{ country: 'FR', lang: 'fr', currency: 'EUR', form: 'SAS', name: 'France', weight: 40 },
    phone: { prefix: '+33 63998', digits: 4 },
  },
  {
    ...{ country: 'DE', lang: 'en', currency: 'EUR', form: 'GmbH', name: 'Deutschland', weight: 20 },
    phone: { prefix: '+49 17139200', digits: 2 },
  },
  {
    ...{ country: 'GB', lang: 'en', currency: 'GBP', form: 'Ltd', name: 'UK', weight: 15 },
    phone: { prefix: '+44 7700900', digits: 3 },
  },
  { country: 'ES', lang: 'en', currency: 'EUR', form: 'S.L.', name: 'España', weight: 10 },
  { country: 'IT', lang: 'en', currency: 'EUR', form: 'S.r.l.', name: 'Italia', weight: 8 },
  { country: 'SE', lang: 'en', currency: 'SEK', form: 'AB', name: 'Sverige', weight: 7 },
];

/** Who gives names, by country, and who throws the dice. */
export interface Names {
  of(country: string): Faker;
  /** Numbers from 0 up to 1, the same for the same seed and purpose. */
  source(purpose: number): { next(): number };
}

/** Loads the lists of names, which are large: only here, so that nobody else pays for them. */
export async function loadNames(seed: number): Promise<Names> {
  const { Faker, base, de, en, en_GB, es, fr, generateMersenne53Randomizer, it, sv } = await import(
    '@faker-js/faker'
  );
  const source = (purpose: number) => {
    const randomizer = generateMersenne53Randomizer();
    randomizer.seed([seed, purpose]);
    return randomizer;
  };
  const randomizer = source(0);
  const locales = { DE: de, ES: es, FR: fr, GB: en_GB, IT: it, SE: sv };
  const fakers = new Map(
    Object.entries(locales).map(([country, locale]) => {
      return [country, new Faker({ locale: [locale, en, base], randomizer })];
    }),
  );
  return {
    of: (country) => {
      const faker = fakers.get(country);
      if (!faker) throw new Error(`there are no names for ${country}`);
      return faker;
    },
    source: (purpose) => source(purpose),
  };
}
