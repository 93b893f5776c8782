import { z } from 'zod';
import { text } from '../fields.ts';
import type { JsonObject } from '../json.ts';
import type { StoredResource, TravelReading } from '../ports.ts';

/**
 * Custom field values as they come in. `name` and `displayName` may come back as they were answered, but are not
 * taken: they belong to the field and its option.
 */
export const customFieldValues = z.array(
  z.strictObject({
    customFieldId: text.meta({ description: 'The id of a custom field' }),
    name: text.optional().meta({ readOnly: true }),
    values: z.array(
      z.strictObject({
        customFieldOptionId: text.optional().meta({ description: 'For fields with options only' }),
        data: text.optional().meta({ description: 'The text, or the data of the option' }),
        displayName: text.optional().meta({ readOnly: true }),
      }),
    ),
  }),
);

/** Custom field values as they come in, or are kept. */
export type CustomFieldValues = z.infer<typeof customFieldValues>;

/** A value as it is kept: the data of a text, or the id of an option, whose data may change. */
export type KeptValue = { data: string } | { customFieldOptionId: string };

/** The custom field values of a document, which its schema has accepted. */
export function valuesOf(doc: JsonObject | undefined): CustomFieldValues {
  // The document went through the schema when it was written: this is a matter of types only.
  return (doc?.['customFields'] ?? []) as CustomFieldValues;
}

/** Documents with the names and data of their custom fields and options as these are now. */
export async function presentCustomFields(
  resources: StoredResource[],
  reading: TravelReading,
): Promise<JsonObject[]> {
  const given = resources.flatMap(({ doc }) => valuesOf(doc));
  if (given.length === 0) return resources.map(({ doc }) => doc);
  const fields = await docs(
    reading,
    'customField',
    given.map(({ customFieldId }) => customFieldId),
  );
  const options = await docs(reading, 'customFieldOption', given.flatMap(optionIds));
  const present = (value: CustomFieldValues[number]['values'][number]): JsonObject => {
    const { customFieldOptionId: id, data } = value;
    if (id === undefined) return { data: data ?? '' };
    const { data: chosen = '', displayName } = options.get(id) ?? {};
    return { customFieldOptionId: id, data: chosen, ...(displayName === undefined ? {} : { displayName }) };
  };
  return resources.map(({ doc }) => {
    if (doc['customFields'] === undefined) return doc;
    const customFields = valuesOf(doc).map(({ customFieldId, values }) => ({
      customFieldId,
      name: fields.get(customFieldId)?.['name'] ?? '',
      values: values.map(present),
    }));
    return { ...doc, customFields };
  });
}

/** The options that one custom field's values name. */
export function optionIds({ values }: CustomFieldValues[number]): string[] {
  return values.flatMap(({ customFieldOptionId }) => customFieldOptionId ?? []);
}

async function docs(reading: TravelReading, type: string, ids: string[]): Promise<Map<string, JsonObject>> {
  const found = await reading.read([...new Set(ids)].map((id) => ({ type, id })));
  return new Map(found.map(({ id, doc }) => [id, doc]));
}
