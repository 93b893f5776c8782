import { ActionIcon, Alert, Autocomplete, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Rows } from '../../components/rows.tsx';
import { type MappingNames, valuesAt } from './completion.ts';
import type { MarkedFault } from './editor.tsx';
import {
  inputOf,
  moveRule,
  parseRules,
  targetOf,
  transformsOf,
  type WrittenRule,
  withRules,
} from './rules.ts';

interface TableProps {
  text: string;
  faults: MarkedFault[];
  names: MappingNames | undefined;
  onChange: (text: string) => void;
}

/** The rules of a mapping as a table. Each change is one of the text. */
export function RulesTable({ text, faults, names, onChange }: TableProps) {
  const [isAdding, setAdding] = useState(false);
  const parsed = parseRules(text);
  if (!parsed)
    return (
      <Alert color="red" title="The rules cannot be shown as a table">
        The text is not a JSON object with a list of rules. Correct it under JSON.
      </Alert>
    );
  const rows = parsed.rules.map((rule, index) => ({ rule, index }));
  const change = (edit: (rules: WrittenRule[]) => WrittenRule[]) => onChange(withRules(text, edit));
  return (
    <Stack gap="sm">
      <Rows
        label="Rules"
        rows={rows}
        keyOf={({ index }) => String(index)}
        empty="This mapping has no rule of its own: each field has its default rule, which the example person shows."
        columns={[
          {
            label: 'Sets',
            cell: ({ rule, index }) => <Target rule={rule} faults={faultsOf(faults, index)} />,
          },
          { label: 'Reads', cell: ({ rule }) => <Code>{inputOf(rule)}</Code> },
          {
            label: 'When',
            cell: ({ rule: { when } }) => (when === undefined ? 'always' : <Code>{String(when)}</Code>),
          },
          { label: 'Transforms', cell: ({ rule }) => transformsOf(rule) },
          { label: 'Order', cell: orderCell(rows.length, change) },
        ]}
      />
      <Button
        size="xs"
        variant="default"
        w="fit-content"
        aria-haspopup="dialog"
        onClick={() => setAdding(true)}
      >
        Add a rule
      </Button>
      {isAdding && (
        <AddRule
          names={names}
          onClose={() => setAdding(false)}
          onAdd={(rule) => change((rules) => [...rules, rule])}
        />
      )}
    </Stack>
  );
}

function faultsOf(faults: MarkedFault[], index: number): MarkedFault[] {
  return faults.filter(({ path }) => path.startsWith(`scimUserMapping[${index}]`));
}

function Target({ rule, faults }: { rule: WrittenRule; faults: MarkedFault[] }) {
  return (
    <>
      {targetOf(rule)}
      {faults.map(({ path, problem, remedy }) => (
        <Text key={`${path} ${problem}`} size="xs" c="var(--mantine-color-error)">
          ✗ {problem}. {remedy}
        </Text>
      ))}
    </>
  );
}

function orderCell(count: number, change: (edit: (rules: WrittenRule[]) => WrittenRule[]) => void) {
  return ({ rule, index }: { rule: WrittenRule; index: number }) => (
    <Group gap={2} wrap="nowrap">
      <ActionIcon
        variant="subtle"
        color="gray"
        disabled={index === 0}
        aria-label={`Move the rule for ${targetOf(rule)} up`}
        onClick={() => change((rules) => moveRule(rules, index, -1))}
      >
        <IconArrowUp size={16} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        disabled={index === count - 1}
        aria-label={`Move the rule for ${targetOf(rule)} down`}
        onClick={() => change((rules) => moveRule(rules, index, 1))}
      >
        <IconArrowDown size={16} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="red"
        aria-label={`Remove the rule for ${targetOf(rule)}`}
        onClick={() => change((rules) => rules.toSpliced(index, 1))}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </Group>
  );
}

const RULE = ['scimUserMapping', 0];

function AddRule({
  names,
  onAdd,
  onClose,
}: {
  names: MappingNames | undefined;
  onAdd: (rule: WrittenRule) => void;
  onClose: () => void;
}) {
  const [target, setTarget] = useState('');
  const [input, setInput] = useState('');
  const [when, setWhen] = useState('');
  const labels = (member: string) => valuesAt([...RULE, member], names).map(({ label }) => label);
  const attributes = labels('userAttribute');
  const add = () => {
    const member = attributes.includes(target) ? 'userAttribute' : 'customField';
    const condition = when.trim() === '' ? {} : { when: when.trim() };
    onAdd({ scimAttribute: input.trim(), [member]: target.trim(), ...condition });
    onClose();
  };
  return (
    <Dialog onClose={onClose} title="Add a rule">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <Stack>
          <Autocomplete
            label="Sets"
            description="A field of the traveler, or a custom field by its name"
            data={[...new Set([...attributes, ...labels('customField')])]}
            value={target}
            onChange={setTarget}
            required
            data-autofocus
          />
          <Autocomplete
            label="Reads"
            description="A SCIM path"
            data={[...new Set(labels('scimAttribute'))]}
            limit={50}
            value={input}
            onChange={setInput}
            required
          />
          <TextInput
            label="When"
            description='For some people only: a SCIM filter, e.g. userType eq "Contractor"'
            value={when}
            onChange={(event) => setWhen(event.currentTarget.value)}
          />
          <Button type="submit">Add the rule</Button>
        </Stack>
      </form>
    </Dialog>
  );
}
