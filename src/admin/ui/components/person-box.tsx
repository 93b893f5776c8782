import { Combobox, Group, Text, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { type CSSProperties, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import type { Person } from '../../../operations/people/people.ts';
import { useRead } from '../requests/queries.ts';
import { markOfPerson } from '../views/people/texts.ts';
import { Breakable } from './text.tsx';

/** A field that finds ten people by a part of a name, address, employee number, id or value of a finding. */
export function PersonBox({
  label,
  placeholder = label,
  connection,
  input: given,
  rightSection,
  style,
  onChoose,
  onAll,
  onUnknown,
}: {
  label: string;
  placeholder?: string;
  /** Only people of this connection. */
  connection?: string;
  input?: RefObject<HTMLInputElement | null>;
  rightSection?: ReactNode;
  style?: CSSProperties;
  onChoose: (person: Person) => void;
  /** Opens the list of all people with the text. */
  onAll?: (text: string) => void;
  /** Called with a text that nobody matches, e.g. the id of a person who has been erased. */
  onUnknown?: (text: string) => void;
}) {
  const own = useRef<HTMLInputElement>(null);
  const input = given ?? own;
  const [typed, setTyped] = useState('');
  const { people, isRead, data } = useMatches(typed, connection);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  // The key Enter opens the first match, which exists only after it has been rendered. Pressed before, it opens it then.
  const isEntered = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store of the box is a new object at each render.
  useEffect(() => {
    combobox.selectFirstOption();
    if (isRead && isEntered.current) combobox.clickSelectedOption();
    if (isRead) isEntered.current = false;
  }, [data, isRead]);
  const leave = () => {
    setTyped('');
    combobox.closeDropdown();
    input.current?.blur();
  };
  const choose = (address: string) => {
    if (address === ALL) onAll?.(typed.trim());
    const person = people.find((one) => addressOf(one) === address);
    if (person) onChoose(person);
    leave();
  };
  const press = (key: string) => {
    if (key === 'Escape') input.current?.blur();
    isEntered.current = key === 'Enter' && !isRead;
    if (key !== 'Enter' || !onUnknown || !isRead || people.length > 0 || typed.trim() === '') return;
    onUnknown(typed.trim());
    leave();
  };
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={choose}
      width="min(420px, calc(100vw - 16px))"
      middlewares={{ flip: true, shift: true }}
    >
      <Combobox.Target withExpandedAttribute>
        <TextInput
          ref={input}
          aria-label={label}
          placeholder={placeholder}
          size="xs"
          {...(style && { style })}
          value={typed}
          rightSection={rightSection}
          onChange={({ currentTarget: { value } }) => {
            setTyped(value);
            combobox.openDropdown();
          }}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
          onKeyDown={(event) => {
            // The people in the list are still those of an earlier text.
            if (event.key === 'Enter' && !isRead) event.stopPropagation();
            press(event.key);
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={typed.trim() === ''} className="search-choices">
        <Combobox.Options aria-label="People">
          {people.map((person) => (
            <Match key={addressOf(person)} person={person} />
          ))}
          {people.length === 0 && isRead && (
            <Combobox.Empty>
              Nobody has this in a name, address, employee number, id or value of a finding.
            </Combobox.Empty>
          )}
          {people.length > 0 && onAll && (
            <Combobox.Option value={ALL} className="search-option">
              All people with “{typed.trim()}”
            </Combobox.Option>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

/** The choice of the list in place of a person, whose address has a slash. */
const ALL = 'all';

/** The people who match a text, a moment after the last key stroke. */
function useMatches(typed: string, connection: string | undefined) {
  const [text] = useDebouncedValue(typed.trim(), 150);
  const search = { enabled: text !== '', placeholderData: keepPreviousData };
  const { data, isFetched, isPlaceholderData } = useRead('findPeople', { text }, search);
  const isRead = isFetched && !isPlaceholderData && text === typed.trim();
  const found = data?.people.filter((one) => connection === undefined || one.connection === connection);
  return { data, isRead, people: text === '' ? [] : (found ?? []) };
}

function addressOf({ connection, id }: Person): string {
  return `${connection}/${id}`;
}

function Match({ person }: { person: Person }) {
  const { symbol, label, color } = markOfPerson(person);
  return (
    <Combobox.Option value={addressOf(person)} className="search-option">
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text truncate dir="auto">
          {person.name || person.userName}
        </Text>
        <Text size="xs" className="search-detail" style={{ whiteSpace: 'nowrap' }}>
          {color && symbol} {label}
        </Text>
      </Group>
      {person.name && (
        <Text size="xs" className="search-detail">
          <Breakable text={person.userName} />
        </Text>
      )}
    </Combobox.Option>
  );
}

/** The name of a person; undefined while it is read, and if there is no such person any more. */
export function useNameOf(person: string | undefined): string | undefined {
  const { data } = useRead('findPeople', { text: person ?? '' }, { enabled: person !== undefined });
  const found = data?.people.find(({ id }) => id === person);
  return found && (found.name || found.userName);
}
