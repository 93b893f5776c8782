import { Combobox, Group, Kbd, Text, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Person } from '../api-client.ts';
import { api, call } from '../session.ts';
import { markOfPerson } from '../views/people/texts.ts';
import { usePageKeys } from './page-keys.ts';

/** Finds people by the beginning of a name or address, or by an id. The key `/` leads here. */
export function PeopleSearch() {
  const input = useRef<HTMLInputElement>(null);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed.trim(), 150);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const matches = useQuery({
    queryKey: ['search', text],
    queryFn: () => call(api.people.findPeople({ text })),
    enabled: text !== '',
    placeholderData: (before) => before,
  });
  const focus = () => input.current?.focus();
  // Some keyboards have the character on the upper half of a key.
  usePageKeys([
    ['/', focus],
    ['shift+/', focus],
  ]);
  const people = text === '' ? [] : (matches.data?.people ?? []);
  // The key Enter opens the first match, which exists only after it has been rendered.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store of the box is a new object at each render.
  useEffect(() => {
    combobox.selectFirstOption();
  }, [matches.data]);
  const open = (address: string) => {
    navigate(`/people/${address}`);
    setTyped('');
    combobox.closeDropdown();
    input.current?.blur();
  };
  return (
    <Combobox store={combobox} onOptionSubmit={open}>
      <Combobox.Target withExpandedAttribute>
        <TextInput
          ref={input}
          aria-label="Search people"
          placeholder="Search people"
          size="xs"
          w={320}
          maw="100%"
          value={typed}
          rightSection={<Kbd size="xs">/</Kbd>}
          onChange={({ currentTarget: { value } }) => {
            setTyped(value);
            combobox.openDropdown();
          }}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
          onKeyDown={({ key }) => key === 'Escape' && input.current?.blur()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={typed.trim() === ''}>
        <Combobox.Options aria-label="People" mah={420}>
          {people.map((person) => (
            <Match key={addressOf(person)} person={person} />
          ))}
          {people.length === 0 && matches.isFetched && (
            <Combobox.Empty>
              Nobody. The search looks at the beginning of userName, email address and display name, and at
              ids.
            </Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

function addressOf({ connection, id }: Person): string {
  return `${connection}/${id}`;
}

function Match({ person }: { person: Person }) {
  const { symbol, label } = markOfPerson(person);
  return (
    <Combobox.Option value={addressOf(person)}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" truncate>
          {person.name || person.userName}
          {person.name && (
            <Text span c="dimmed" size="sm">
              {' '}
              {person.userName}
            </Text>
          )}
        </Text>
        <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {symbol} {label}
        </Text>
      </Group>
    </Combobox.Option>
  );
}
