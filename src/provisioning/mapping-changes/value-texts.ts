// The words in which the page and the commands show the effect of rules. The file imports nothing, because it is in the page, too.

/** The names of custom fields by key, and of other resources by id. */
type Names = Partial<Record<string, string>>;

/** The name of a field: for a custom field the one that admins gave it. */
export function fieldLabel(field: string, names: Names): string {
  return names[field] ?? field;
}

/** A value in one line. Ids are shown by the names that they stand for. */
export function valueText(value: unknown, names: Names): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return names[value] ?? `"${value}"`;
  if (Array.isArray(value))
    return value.map((one) => valueText(customFieldData(one, names), names)).join(', ');
  return JSON.stringify(value);
}

function customFieldData(value: unknown, names: Names): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { data, customFieldOptionId: option } = Object(value);
  return data ?? (typeof option === 'string' ? (names[option] ?? option) : value);
}
