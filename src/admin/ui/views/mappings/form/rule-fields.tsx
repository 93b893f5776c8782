import {
  Autocomplete,
  Checkbox,
  type ComboboxItem,
  Select,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { fieldLabel } from '../../../../../model/value-texts.ts';
import { FieldName } from '../../../components/field-name.tsx';
import { toChoices, withLongUrns, withShortUrns } from '../../../components/texts.ts';
import { useRead } from '../../../requests/queries.ts';
import { labelsAt, valuesAt } from '../editor/completion.ts';
import {
  convertInput,
  type InputKind,
  inputKinds,
  inputOf,
  type RuleInput,
  type Whom,
  whomKinds,
  whomOf,
  writtenInput,
  writtenWhom,
} from '../rules/rule-words.ts';
import { fieldOf, withMember } from '../rules/rules.ts';
import { type EditedRule, faultsAt, setMember, targets } from './edited-rule.tsx';

// The questions that the form of a rule asks: which field, from what, and for whom.

/** Which field the rule sets: one of the traveler, or a custom field by its name. */
export function FieldSelect(edited: EditedRule) {
  const { rule, names, fieldNames, onChange } = edited;
  const member = targets.find((one) => rule[one] !== undefined) ?? 'userAttribute';
  const custom = names?.customFields ?? [];
  const keyOfName = (name: string) => custom.find((one) => one.name === name)?.id;
  const id = member === 'customField' ? keyOfName(fieldOf(rule)) : undefined;
  const written = id === undefined ? fieldOf(rule) : `customFields.${id}`;
  const attributes = labelsAt('userAttribute', names);
  const isById = (key: string) => key.endsWith('Id') && attributes.includes(key.replace(/Id$/, ''));
  const own = [...attributes.filter((key) => !isById(key)), ...attributes.filter(isById)];
  const known = [...own, ...custom.map((one) => `customFields.${one.id}`)];
  const itemOf = (value: string): ComboboxItem => ({ value, label: labelOf(value) });
  const labelOf = (key: string) => `${fieldLabel(key, fieldNames)}${isById(key) ? ', by its id' : ''}`;
  const choose = (key: string) => {
    const name = fieldNames[key];
    const to = name === undefined ? 'userAttribute' : 'customField';
    onChange(withMember(rule, to, name ?? key, member));
  };
  return (
    <Select
      label="Which field"
      error={faultsAt(edited, member)}
      data={[
        ...(written === '' || known.includes(written) ? [] : [itemOf(written)]),
        { group: 'Traveler', items: own.map(itemOf) },
        { group: 'Custom fields', items: custom.map((one) => itemOf(`customFields.${one.id}`)) },
      ]}
      value={written === '' ? null : written}
      renderOption={({ option: { value, label } }) =>
        isById(value) ? label : <FieldName field={value} names={fieldNames} />
      }
      onChange={(key) => key !== null && choose(key)}
      searchable
    />
  );
}

/** From what the value comes. */
export function InputFields(edited: EditedRule) {
  const { rule, onChange } = edited;
  // What is typed may have several readings: a text without an attribute yet is a fixed value, too.
  const [typed, setTyped] = useState(inputOf(rule));
  const isShown = isEqual(writtenInput(typed), rule[inputKinds[typed.kind].member]);
  const input = isShown ? typed : inputOf(rule);
  const set = (next: RuleInput) => {
    setTyped(next);
    setMember(edited, inputKinds[next.kind].member, writtenInput(next));
  };
  const change = (kind: InputKind) => {
    const next = convertInput(input, kind);
    setTyped(next);
    const [from, to] = [inputKinds[input.kind].member, inputKinds[kind].member];
    onChange(withMember(withMember(rule, to, writtenInput(next), from), 'fallback', undefined));
  };
  return (
    <Stack gap={6}>
      <Select
        label="From what"
        data={Object.entries(inputKinds).map(([value, { label }]) => ({ value, label }))}
        value={input.kind}
        // The values are those of the data.
        onChange={(kind) => kind !== null && kind !== input.kind && change(kind as InputKind)}
      />
      <InputField {...edited} input={input} onInput={set} />
    </Stack>
  );
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface InputFieldProps extends EditedRule {
  input: RuleInput;
  onInput: (input: RuleInput) => void;
}

function InputField({ input, onInput: set, ...edited }: InputFieldProps) {
  const { rule, names, connection } = edited;
  const { member } = inputKinds[input.kind];
  const error = faultsAt(edited, member);
  switch (input.kind) {
    case 'attribute':
      return (
        <>
          <Autocomplete
            aria-label="Attribute"
            placeholder="title, or a part of its name"
            data={labelsAt(member, names).map(withShortUrns)}
            limit={50}
            value={withShortUrns(input.paths[0] ?? '')}
            onChange={(path) => set({ kind: input.kind, paths: [withLongUrns(path)] })}
            error={error}
          />
          <PeopleHave connection={connection} path={input.paths[0] ?? ''} />
        </>
      );
    case 'attributes':
      return (
        <>
          <TagsInput
            aria-label="Attributes"
            data={labelsAt(member, names)}
            limit={50}
            placeholder="Add an attribute, then Enter"
            splitChars={[]}
            value={input.paths}
            onChange={(paths) => set({ kind: input.kind, paths })}
            error={error}
          />
          <Checkbox
            size="xs"
            label="The next one also if a value cannot be used"
            checked={rule['fallback'] === 'unusable'}
            onChange={({ currentTarget: { checked } }) =>
              setMember(edited, 'fallback', checked ? 'unusable' : undefined)
            }
          />
        </>
      );
    case 'fixed':
      return (
        <Autocomplete
          aria-label="Value"
          data={valuesAt(['scimUserMapping', 0, 'template'], names, rule).map(({ label }) => label)}
          limit={50}
          value={input.text}
          onChange={(value) => set({ kind: input.kind, text: value })}
          error={error}
        />
      );
    case 'text':
      return (
        <Textarea
          aria-label="Text"
          autosize
          placeholder="{name.givenName} {name.familyName}"
          value={input.text}
          onChange={(event) => set({ kind: input.kind, text: event.currentTarget.value })}
          error={error}
        />
      );
  }
}

/** The values that people have in an attribute; none while its path is typed. */
function useValuesOf(connection: string, path: string) {
  const [shown] = useDebouncedValue(path.trim(), 300);
  const { data } = useRead('findAttributeValues', { connection, path: shown }, { enabled: shown !== '' });
  return data && shown === path.trim() ? data.values : [];
}

/** The number of values that are shown of an attribute. */
const SHOWN_VALUES = 5;

function PeopleHave({ connection, path }: { connection: string; path: string }) {
  const values = useValuesOf(connection, path);
  if (values.length === 0) return null;
  const shown = values.slice(0, SHOWN_VALUES).map(({ value, people }) => `${value} (${people})`);
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      People have: {shown.join(', ')}
      {values.length > SHOWN_VALUES && ' …'}
    </Text>
  );
}

/** For whom the rule is used. */
export function WhomFields(edited: EditedRule) {
  const when = edited.rule['when'];
  // A filter that is typed may become one that the form has fields for.
  const [typed, setTyped] = useState(whomOf(when));
  const whom = writtenWhom(typed) === when ? typed : whomOf(when);
  const set = (next: Whom) => {
    setTyped(next);
    setMember(edited, 'when', writtenWhom(next));
  };
  return (
    <Stack gap={6}>
      <Select
        label="For whom"
        data={toChoices(whomKinds)}
        value={whom.kind}
        // The values are those of the data.
        onChange={(kind) =>
          kind !== null && kind !== whom.kind && set(convertWhom(whom, kind as Whom['kind']))
        }
      />
      <WhomField {...edited} whom={whom} onWhom={set} />
    </Stack>
  );
}

/** The people of another kind, before they are chosen. Any condition can be shown as a filter. */
function convertWhom(before: Whom, kind: Whom['kind']): Whom {
  switch (kind) {
    case 'everybody':
      return { kind };
    case 'group':
      return { kind, group: '' };
    case 'attribute':
      return { kind, path: 'userType', value: '' };
    case 'filter':
      return { kind, filter: writtenWhom(before) ?? '' };
  }
}

function WhomField({ whom, onWhom, ...edited }: EditedRule & { whom: Whom; onWhom: (whom: Whom) => void }) {
  const { connection, names } = edited;
  const error = faultsAt(edited, 'when');
  const groups = useRead(
    'findGroupNames',
    { connection, beginning: whom.kind === 'group' ? whom.group.trim() : '' },
    { enabled: whom.kind === 'group' },
  );
  const values = useValuesOf(connection, whom.kind === 'attribute' ? whom.path : '');
  switch (whom.kind) {
    case 'everybody':
      return null;
    case 'group':
      return (
        <Autocomplete
          aria-label="Group"
          placeholder="Its name, as the identity provider has sent it"
          data={groups.data?.names ?? []}
          value={whom.group}
          onChange={(group) => onWhom({ kind: whom.kind, group })}
          error={error}
        />
      );
    case 'attribute':
      return (
        <>
          <Autocomplete
            aria-label="Attribute of these people"
            data={labelsAt('scimAttribute', names).map(withShortUrns)}
            limit={50}
            value={withShortUrns(whom.path)}
            onChange={(path) => onWhom({ ...whom, path: withLongUrns(path) })}
            error={error}
          />
          <Autocomplete
            aria-label="Value of these people"
            placeholder="is"
            data={values.map(({ value }) => value)}
            value={whom.value}
            onChange={(value) => onWhom({ ...whom, value })}
          />
        </>
      );
    case 'filter':
      return (
        <TextInput
          aria-label="Filter"
          placeholder='userType eq "Contractor"'
          value={whom.filter}
          onChange={(event) => onWhom({ kind: whom.kind, filter: event.currentTarget.value })}
          error={error}
        />
      );
  }
}
