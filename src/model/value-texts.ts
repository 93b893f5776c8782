// The words in which the page and the commands show fields and values. The file imports nothing, because it is in the page, too.

/** The names of custom fields by key or id, and of other resources by id. */
type Names = Partial<Record<string, string>>;

/** The fields of a traveler, and those of a rule that names a resource in place of its id, as people say them. */
const words: Names = {
  '*': 'All fields',
  archived: 'Archived',
  email: 'Email address',
  firstName: 'First name',
  lastName: 'Last name',
  phoneNumber: 'Phone number',
  lang: 'Language',
  'address.streetAddress': 'Street',
  'address.city': 'City',
  'address.region': 'Region',
  'address.postalCode': 'Postal code',
  'address.countryCode': 'Country',
  managerId: 'Manager',
  manager: 'Manager',
  costCenterId: 'Cost center',
  costCenter: 'Cost center',
  billingProfileId: 'Billing profile',
  billingProfile: 'Billing profile',
  travelPolicyId: 'Policy',
  travelPolicy: 'Policy',
  dateOfBirth: 'Date of birth',
  gender: 'Gender',
  currency: 'Currency',
  separateIcsEmails: 'Calendar e-mails',
  roles: 'Roles',
};

/** A field as people say it: for a custom field the name that admins gave it. */
export function fieldLabel(field: string, names: Names): string {
  const known = names[field] ?? names[field.replace('customFields.', '')] ?? words[field];
  if (known !== undefined) return known;
  const [group, name = ''] = field.split(/\.(.*)/s);
  if (group === 'roles') return `Role ${name}`;
  return group === 'travelerPrefs' ? `Preference ${name}` : field;
}

/** A number of values of a field, e.g. `1 first name` or `14 cost centers`. The names of custom fields stay as they are. */
export function countedField(count: string, field: string, names: Names): string {
  const label = fieldLabel(field, names);
  if (label !== words[field]) return `${count} ${label}`;
  const word = label.toLowerCase();
  const isOne = /^1(?:\D|$)/.test(count);
  if (isOne || word.endsWith('s')) return `${count} ${word}`;
  if (word.startsWith('date ')) return `${count} ${word.replace('date', 'dates')}`;
  return `${count} ${word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`}`;
}

/** Returns a value in one line, with names in place of ids; empty for no value. */
export function valueText(value: unknown, names: Names): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return names[value] ?? value;
  if (Array.isArray(value)) return value.map((one) => valueText(one, names)).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  const { customFieldOptionId, data, travelerOf }: Partial<Record<string, unknown>> = { ...value };
  if (travelerOf !== undefined) return `the traveler of ${valueText(travelerOf, names)}`;
  const shown = customFieldOptionId ?? data;
  return shown === undefined ? JSON.stringify(value) : valueText(shown, names);
}

/** Returns a value in one line, or that there is none. */
export function shownText(value: unknown, names: Names): string {
  return valueText(value, names) || 'nothing';
}
