import { Box, Button, Code, Group, Input, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { IconButton } from '../../../components/buttons.tsx';
import { type TransformKind, transformKinds } from '../editor/completion.ts';
import { moved, newTransform, readTransform, type WrittenTransform, withOption } from '../rules/rules.ts';
import { type EditedRule, setMember } from './edited-rule.tsx';
import { OrderButtons } from './order-buttons.tsx';

const kinds = transformKinds();

/** The transforms of a rule in their order, each with its option. */
export function TransformsForm({ error, ...edited }: EditedRule & { error: ReactNode }) {
  const { transforms } = edited.rule;
  const written: unknown[] = Array.isArray(transforms) ? transforms : [];
  const change = (next: unknown[]) => setMember(edited, 'transforms', next.length === 0 ? undefined : next);
  const add = (name: string | null) => {
    const kind = kinds.find((one) => one.name === name);
    if (kind) change([...written, newTransform(kind)]);
  };
  return (
    <Input.Wrapper
      label="What to do with it"
      description="One after the other"
      labelElement="div"
      error={error}
    >
      <Stack gap="xs" mt={6}>
        {written.map((value, at) => (
          <Group
            // Transforms have no identity besides their place.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            key={at}
            gap="xs"
            align="flex-start"
          >
            <OrderButtons
              {...{ list: 'transforms', at, count: written.length, name: `transform ${at + 1}` }}
              onMove={(by) => change(moved(written, at, by))}
              onRemove={() => change(written.toSpliced(at, 1))}
            />
            <Transform value={value} at={at} onChange={(changed) => change(written.with(at, changed))} />
          </Group>
        ))}
        <Select
          size="xs"
          w={220}
          aria-label="Add a transform"
          placeholder="Add a transform"
          data={kinds.map(({ name }) => name)}
          value={null}
          onChange={add}
          searchable
        />
      </Stack>
    </Input.Wrapper>
  );
}

interface TransformProps {
  value: unknown;
  at: number;
  onChange: (value: unknown) => void;
}

function Transform({ value, at, onChange }: TransformProps) {
  const read = readTransform(value, kinds);
  if (!read)
    return (
      <Text component="div">
        <Code>{JSON.stringify(value)}</Code> can be changed under JSON only.
      </Text>
    );
  const { kind } = read;
  return (
    <>
      <Select
        size="xs"
        w={120}
        aria-label={`Transform ${at + 1}`}
        data={kinds.map(({ name }) => name)}
        value={kind.name}
        onChange={(name) => {
          const chosen = kinds.find((one) => one.name === name);
          if (chosen && chosen !== kind) onChange(newTransform(chosen));
        }}
      />
      <Box flex="1 1 220px" miw={0}>
        <Option {...read} at={at} onChange={(option) => onChange(withOption(kind, option))} />
      </Box>
    </>
  );
}

function Option({
  kind,
  option,
  at,
  onChange,
}: WrittenTransform & { at: number; onChange: (option: WrittenTransform['option']) => void }) {
  if (kind.option === 'none') return null;
  const label = `of transform ${at + 1}`;
  if (typeof option === 'string')
    return (
      <OptionText
        label={`${kind.name} ${label}`}
        placeholder={kind.description}
        value={option}
        onChange={onChange}
      />
    );
  if (kind.option === 'members')
    return (
      <Stack gap={4}>
        {kind.members.map(([name, description]) => (
          <OptionText
            key={name}
            label={`${name} ${label}`}
            placeholder={description}
            prefix={name}
            value={option[name] ?? ''}
            onChange={(value) => onChange({ ...option, [name]: value })}
          />
        ))}
      </Stack>
    );
  return <MapOption {...{ option, label, onChange }} kind={kind} />;
}

interface OptionTextProps {
  label: string;
  placeholder: string;
  prefix?: string;
  value: string;
  onChange: (value: string) => void;
}

function OptionText({ label, placeholder, prefix, value, onChange }: OptionTextProps) {
  return (
    <TextInput
      size="xs"
      flex={1}
      miw={0}
      {...(prefix === undefined
        ? {}
        : { leftSection: <Text size="xs">{prefix}</Text>, leftSectionWidth: 64 })}
      aria-label={label}
      placeholder={placeholder}
      title={placeholder}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface MapOptionProps {
  option: Record<string, string>;
  label: string;
  kind: TransformKind;
  onChange: (option: Record<string, string>) => void;
}

/**
 * Results by value. The rows are kept beside the option: while a value is typed it can be that of another row, and an object has
 * values that are numbers first.
 */
function MapOption({ option, label, kind, onChange }: MapOptionProps) {
  const [typed, setTyped] = useState({ pairs: Object.entries(option), written: JSON.stringify(option) });
  const pairs = typed.written === JSON.stringify(option) ? typed.pairs : Object.entries(option);
  const change = (next: [string, string][]) => {
    const changed = Object.fromEntries(next);
    setTyped({ pairs: next, written: JSON.stringify(changed) });
    onChange(changed);
  };
  return (
    <Stack gap={4}>
      <Text size="xs" c="dimmed" mt={4}>
        {kind.description}
      </Text>
      {pairs.map(([from, to], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the value is typed into the row, so that it cannot be its key
        <Group key={at} gap={4} wrap="nowrap">
          <OptionText
            label={`Value ${at + 1} ${label}`}
            placeholder="Value"
            value={from}
            onChange={(value) => change(pairs.with(at, [value, to]))}
          />
          →
          <OptionText
            label={`Result ${at + 1} ${label}`}
            placeholder="Result"
            value={to}
            onChange={(value) => change(pairs.with(at, [from, value]))}
          />
          <IconButton
            icon={IconTrash}
            color="red"
            label={`Remove value ${at + 1} ${label}`}
            onClick={() => change(pairs.toSpliced(at, 1))}
          />
        </Group>
      ))}
      <Button size="compact-xs" w="fit-content" onClick={() => change([...pairs, ['', '']])}>
        Add a value
      </Button>
    </Stack>
  );
}
