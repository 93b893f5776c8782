import {
  Box,
  Button,
  CloseButton,
  Group,
  Select,
  type SelectProps,
  Text,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconFilter, IconX } from '@tabler/icons-react';
import { type CSSProperties, type ReactNode, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useIsNarrow } from './narrow.ts';
import { PersonBox, useNameOf } from './person-box.tsx';

/** The filters of a list in a line; on a narrow screen behind a button. `count` is the number of those in use. */
export function FilterPanel({ count, children }: { count: number; children: ReactNode }) {
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  const filters = (
    <Group gap="xs" mb="md" role="search" aria-label="Filters">
      {children}
    </Group>
  );
  if (!isNarrow) return filters;
  return (
    <>
      <Box mb="xs">
        <Button
          variant={count > 0 ? 'light' : 'default'}
          leftSection={<IconFilter size={14} />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {count > 0 ? `Filters (${count})` : 'Filters'}
        </Button>
      </Box>
      {isOpen && filters}
    </>
  );
}

/** A filter with a list of values to choose from. `label` is its name for screen readers. */
export function FilterSelect({
  label,
  value,
  ...select
}: Omit<SelectProps, 'value'> & { label: string; value: string | undefined }) {
  return <Select size="xs" clearable aria-label={label} value={value ?? null} {...select} />;
}

interface TextFilterProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  label: string;
  value: string | undefined;
  onChange: (value: string) => void;
}

/** A filter with a text, which is used a moment after the last key stroke. `label` is its name. */
export function TextFilter({ label, value, onChange, ...input }: TextFilterProps) {
  const [typed, setTyped] = useState(value ?? '');
  // A link to the same view can bring another text.
  useEffect(() => setTyped((text) => (text.trim() === (value ?? '') ? text : (value ?? ''))), [value]);
  const changeSoon = useDebouncedCallback((text: string) => onChange(text.trim()), 300);
  return (
    <TextInput
      size="xs"
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        changeSoon(event.currentTarget.value);
      }}
      {...input}
    />
  );
}

/** The filters of a list, which are in the address, so that a link to the view contains them; and a function that changes some of them. */
export function useAddressFilter<Filter extends object>(
  names: readonly (keyof Filter & string)[],
): [Filter, (changes: Partial<Record<keyof Filter, string | null | undefined>>) => void] {
  const [parameters, setParameters] = useSearchParams();
  const given: string[][] = [...parameters].filter(
    ([name, value]) => value && names.some((one) => one === name),
  );
  // The API checks the values.
  const filter: Filter = Object.fromEntries(given);
  const change = (changes: Partial<Record<keyof Filter, string | null | undefined>>) =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries<string | null | undefined>(changes))
          if (value) after.set(name, value);
          else after.delete(name);
        return after;
      },
      { replace: true },
    );
  return [filter, change];
}

interface MomentInputProps {
  label: string;
  value: string | undefined;
  style?: CSSProperties;
  onChange: (value: string | undefined) => void;
}

/** A local date and time, which can be empty. `value` is a time of the API. */
export function MomentInput({ label, value, style, onChange }: MomentInputProps) {
  return (
    <TextInput
      size="xs"
      {...(style && { style })}
      type="datetime-local"
      aria-label={label}
      leftSection={<Text size="xs">{label}</Text>}
      leftSectionWidth={44}
      value={value === undefined ? '' : toLocal(value)}
      onChange={({ currentTarget }) => onChange(toUtc(currentTarget.value))}
      rightSection={
        value && <CloseButton size="xs" aria-label={`Clear ${label}`} onClick={() => onChange(undefined)} />
      }
    />
  );
}

/** Converts a time of the API to the value of an input: local, in minutes. */
export function toLocal(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Converts the value of an input to a time of the API; an empty one to undefined. */
export function toUtc(local: string): string | undefined {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

interface PersonFilterProps {
  /** The SCIM id. */
  person: string | undefined;
  style?: CSSProperties;
  onChange: (person: string | undefined) => void;
}

/** Chooses a person by name, userName, email address or id. A chosen one is shown by name, with a way back to everybody. */
export function PersonFilter({ person, style, onChange }: PersonFilterProps) {
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
