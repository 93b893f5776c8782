import { CloseButton, Text, TextInput } from '@mantine/core';
import type { CSSProperties } from 'react';

/** A local date and time, which can be empty. `value` is a time of the API. */
export function MomentInput({
  label,
  value,
  style,
  onChange,
}: {
  label: string;
  value: string | undefined;
  style?: CSSProperties;
  onChange: (value: string | undefined) => void;
}) {
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
