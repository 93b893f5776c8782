import {
  Autocomplete,
  Button,
  Checkbox,
  Group,
  Paper,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useFocusReturn } from '../../components/dialogs.tsx';
import { toChoices } from '../../components/texts.ts';
import { labelsAt, type MappingNames } from './completion.ts';
import type { MarkedFault } from './draft.ts';
import { FaultTexts } from './faults.tsx';
import { convertInput, faultPath, replaceInRule, setInRule, targetOf, type WrittenRule } from './rules.ts';
import { TransformsForm } from './transforms-form.tsx';

/** A rule to be changed. */
export interface EditedRule {
  text: string;
  index: number;
  rule: WrittenRule;
  faults: MarkedFault[];
  names: MappingNames | undefined;
  onChange: (text: string) => void;
}

/** The members that say what a rule sets, and those that say what it reads. A rule has one of each. */
const targets = {
  userAttribute: 'A field of the traveler',
  customField: 'A custom field, by its name',
  customFieldId: 'A custom field, by its id',
};
const inputs = {
  scimAttribute: 'A SCIM path',
  sources: 'The first path with a value',
  template: 'A text with paths in braces',
};

/** The members with a field of their own, which shows their faults. */
const members = [...Object.keys(targets), ...Object.keys(inputs), 'when', 'transforms'];

/** The fields of one rule. Each key stroke changes the text, so that the example person follows. */
export function RuleForm({ onClose, ...edited }: EditedRule & { onClose: () => void }) {
  useFocusReturn();
  const { index, rule, faults } = edited;
  const titleId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const isElsewhere = ({ path }: MarkedFault) =>
    path.startsWith(faultPath(index)) &&
    !members.some((member) => isAt(path, faultPath(index, `.${member}`)));
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={titleId}>
      <Stack gap="sm">
        <Title order={2} size="h5" id={titleId} ref={title} tabIndex={-1} className="rule-title">
          Rule {index + 1} sets {targetOf(rule)}
        </Title>
        <FaultTexts faults={faults.filter(isElsewhere)} />
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <Target {...edited} />
          <Input {...edited} />
        </SimpleGrid>
        <TextInput
          label="When"
          description='For some people only: a SCIM filter, e.g. userType eq "Contractor"'
          value={textOf(rule['when'])}
          onChange={({ currentTarget: { value } }) => setMember(edited, 'when', value || undefined)}
          error={faultsAt(edited, 'when')}
        />
        <TransformsForm {...edited} error={faultsAt(edited, 'transforms')} />
        <Group>
          <Button variant="filled" onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

/** True for the path of a member and for the paths inside it. */
function isAt(path: string, member: string): boolean {
  return path === member || path.startsWith(`${member}.`) || path.startsWith(`${member}[`);
}

/** The faults of a member, to be shown under its field. */
function faultsAt({ faults, index }: EditedRule, member: string): ReactNode {
  const found = faults.filter(({ path }) => isAt(path, faultPath(index, `.${member}`)));
  return found.length > 0 && <FaultTexts faults={found} />;
}

function setMember({ text, index, onChange }: EditedRule, member: string, value: unknown): void {
  onChange(setInRule(text, index, { path: [member], value }));
}

/** The member of a group that the rule has. */
function memberOf<Member extends string>(
  rule: WrittenRule,
  group: Record<Member, string>,
): Member | undefined {
  return keysOf(group).find((member) => rule[member] !== undefined);
}

/** `Object.keys` forgets which keys there are. */
function keysOf<Key extends string>(table: Record<Key, string>): Key[] {
  return Object.keys(table) as Key[];
}

/** A text as it is written; a value of another type, which is a fault, as JSON. */
function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The labels to choose from, with what is written now even if it is none of them. */
function choices(labels: string[], written: string): string[] {
  return written === '' || labels.includes(written) ? labels : [written, ...labels];
}

function Target(edited: EditedRule) {
  const { text, index, rule, names, onChange } = edited;
  const member = memberOf(rule, targets) ?? 'userAttribute';
  const written = textOf(rule[member]);
  const labels = labelsAt(member, names);
  const field = { 'aria-label': targets[member], value: written, error: faultsAt(edited, member) };
  return (
    <Stack gap={6}>
      <KindSelect
        label="Sets"
        kinds={targets}
        kind={member}
        onChange={(to) => onChange(replaceInRule(text, index, { from: member, to, value: '' }))}
      />
      {member === 'userAttribute' ? (
        <Select
          {...field}
          data={choices(labels, written)}
          onChange={(value) => setMember(edited, member, value ?? '')}
          searchable
          allowDeselect={false}
        />
      ) : (
        <Autocomplete {...field} data={labels} onChange={(value) => setMember(edited, member, value)} />
      )}
    </Stack>
  );
}

function Input(edited: EditedRule) {
  const { text, index, rule, names, onChange } = edited;
  const member = memberOf(rule, inputs) ?? 'scimAttribute';
  const written = rule[member];
  const field = { 'aria-label': inputs[member], error: faultsAt(edited, member) };
  const set = (value: unknown) => setMember(edited, member, value);
  return (
    <Stack gap={6}>
      <KindSelect
        label="Reads"
        kinds={inputs}
        kind={member}
        onChange={(to) => {
          const converted = replaceInRule(text, index, {
            from: member,
            to,
            value: convertInput(written, to),
          });
          onChange(setInRule(converted, index, { path: ['fallback'], value: undefined }));
        }}
      />
      {member === 'scimAttribute' && (
        <Autocomplete
          {...field}
          data={labelsAt(member, names)}
          limit={50}
          value={textOf(written)}
          onChange={set}
        />
      )}
      {member === 'sources' && (
        <TagsInput
          {...field}
          data={labelsAt(member, names)}
          limit={50}
          placeholder="Add a path, then Enter"
          splitChars={[]}
          value={Array.isArray(written) ? written.map(String) : []}
          onChange={set}
        />
      )}
      {member === 'sources' && (
        <Checkbox
          size="xs"
          label="The next path also if no value can be used"
          checked={rule['fallback'] === 'unusable'}
          onChange={({ currentTarget: { checked } }) =>
            setMember(edited, 'fallback', checked ? 'unusable' : undefined)
          }
        />
      )}
      {member === 'template' && (
        <Textarea
          {...field}
          autosize
          placeholder="{name.givenName} {name.familyName}"
          value={textOf(written)}
          onChange={(event) => set(event.currentTarget.value)}
        />
      )}
    </Stack>
  );
}

interface KindSelectProps<Kind extends string> {
  label: string;
  kinds: Record<Kind, string>;
  kind: Kind;
  onChange: (kind: Kind) => void;
}

function KindSelect<Kind extends string>({ label, kinds, kind, onChange }: KindSelectProps<Kind>) {
  return (
    <Select
      label={label}
      data={toChoices(kinds)}
      value={kind}
      allowDeselect={false}
      onChange={(chosen) => {
        const known = keysOf(kinds).find((one) => one === chosen);
        if (known && known !== kind) onChange(known);
      }}
    />
  );
}
