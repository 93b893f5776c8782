import { Text } from '@mantine/core';
import { fieldLabel } from '../../../model/value-texts.ts';
import { Breakable } from './text.tsx';

/** A field as people say it, with its key. `names` are those of custom fields. */
export function FieldName({ field, names = {} }: { field: string; names?: Partial<Record<string, string>> }) {
  const label = fieldLabel(field, names);
  const key = field.startsWith('customFields.') ? 'custom field' : field;
  return (
    <>
      <Text fw={500} component="div">
        {label}
      </Text>
      {label !== field && (
        <Text size="xs" c="dimmed" component="div">
          <Breakable text={key} />
        </Text>
      )}
    </>
  );
}
