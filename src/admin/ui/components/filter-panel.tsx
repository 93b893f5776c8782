import { Box, Button, Group, Select, type SelectProps, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconFilter } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useIsNarrow } from './narrow.ts';

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
          size="xs"
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

/** A filter with a text, which is used a moment after the last key stroke. `label` is its name. */
export function TextFilter({
  label,
  value,
  onChange,
  ...input
}: Omit<TextInputProps, 'value' | 'onChange'> & {
  label: string;
  value: string | undefined;
  onChange: (value: string) => void;
}) {
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
