import { useRead } from '../../../requests/queries.ts';

/** The names of the custom fields of a connection by their keys in rules. */
export function useFieldNames(connection: string): Record<string, string> {
  const { data } = useRead('listMappingNames', { connection });
  return Object.fromEntries((data?.customFields ?? []).map(({ id, name }) => [`customFields.${id}`, name]));
}
