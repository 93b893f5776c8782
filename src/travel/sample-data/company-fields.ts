import type { JsonObject } from '../json.ts';
import { customField } from '../resources/custom-field.ts';
import { customFieldOption } from '../resources/custom-field-option.ts';
import { cities } from './cities.ts';
import type { Identity } from './identity.ts';
import { add, type Scene } from './scene.ts';

/** A custom field with options, which are found by their data. */
export interface ChoiceField {
  id: string;
  options: Map<string, string>;
}

/** The custom fields of a company, by ids. */
export interface CompanyFields {
  /** Of users: text. */
  employeeNumber: string;
  /** Of users: the city of their office. */
  site: ChoiceField;
  /** Of users: any number of them. */
  languages: ChoiceField;
  /** Of trip projects. */
  reason: ChoiceField;
}

const languages = ['Deutsch', 'English', 'Español', 'Français', 'Italiano', 'Svenska'];
const reasons = ['Customer visit', 'Conference', 'Internal meeting', 'Recruiting', 'Training'];

/** None of them is mandatory: the account's other people, and those whom an IdP brings, know nothing of them. */
export async function foundFields(
  scene: Scene,
  { identity, countries }: { identity: Identity; countries: string[] },
): Promise<CompanyFields> {
  const make = (title: string, doc: JsonObject) =>
    add(scene, { resource: customField, doc: { ...doc, name: `${identity.name} ${title}` } });
  const choice = async (title: string, doc: JsonObject, values: string[]): Promise<ChoiceField> => {
    const id = await make(title, doc);
    const options = new Map<string, string>();
    for (const data of values) {
      const made = { resource: customFieldOption, doc: { data }, parentId: id };
      options.set(data, await add(scene, made));
    }
    return { id, options };
  };
  const sites = cities.filter(({ country, postal }) => postal !== undefined && countries.includes(country));
  const ofUser = { resourceType: 'user' };
  return {
    employeeNumber: await make('employee number', {
      ...ofUser,
      dataType: 'text',
      validationRegexp: 'E[0-9]{7}',
    }),
    site: await choice(
      'site',
      { ...ofUser, dataType: 'option' },
      sites.map(({ name }) => name),
    ),
    languages: await choice('languages', { ...ofUser, dataType: 'optionsList' }, languages),
    reason: await choice('reason for travel', { resourceType: 'tripProject', dataType: 'option' }, reasons),
  };
}
