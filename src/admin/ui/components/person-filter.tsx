import { Button } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { CSSProperties } from 'react';
import { useRead } from '../queries.ts';
import { PersonBox } from './person-box.tsx';

/** Chooses a person by name, userName, email address or id. A chosen one is shown by name, with a way back to everybody. */
export function PersonFilter({
  person,
  style,
  onChange,
}: {
  /** The SCIM id. */
  person: string | undefined;
  style?: CSSProperties;
  onChange: (person: string | undefined) => void;
}) {
  const name = useNameOf(person);
  if (person === undefined)
    return (
      <PersonBox
        label="Person"
        {...(style && { style })}
        onChoose={({ id }) => onChange(id)}
        onUnknown={onChange}
      />
    );
  const text = name ?? `${person.slice(0, 8)}…`;
  return (
    <Button
      size="xs"
      variant="light"
      title={person}
      rightSection={<IconX size={12} />}
      aria-label={`Person ${text}, remove the filter`}
      onClick={() => onChange(undefined)}
    >
      {text}
    </Button>
  );
}

/** The name of a person; undefined while it is read, and if there is no such person any more. */
function useNameOf(person: string | undefined): string | undefined {
  const { data } = useRead('findPeople', { text: person ?? '' }, { enabled: person !== undefined });
  const found = data?.people.find(({ id }) => id === person);
  return found && (found.name || found.userName);
}
