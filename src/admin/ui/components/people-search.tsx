import { Kbd } from '@mantine/core';
import { useRef } from 'react';
import { useLocation } from 'wouter';
import { usePageKeys } from './page-keys.ts';
import { PersonBox } from './person-box.tsx';

/** Finds a person and opens the view of the person. The key `/` leads here. */
export function PeopleSearch() {
  const input = useRef<HTMLInputElement>(null);
  const [, navigate] = useLocation();
  const focus = () => input.current?.focus();
  usePageKeys([
    ['/', focus],
    // Some keyboards have the character on the upper half of a key.
    ['shift+/', focus],
  ]);
  return (
    <PersonBox
      label="Search people"
      input={input}
      style={{ width: 320, maxWidth: '100%' }}
      rightSection={<Kbd size="xs">/</Kbd>}
      onChoose={({ connection, id }) => navigate(`/people/${connection}/${id}`)}
    />
  );
}
