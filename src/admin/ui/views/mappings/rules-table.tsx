import {
  Alert,
  Autocomplete,
  Button,
  SegmentedControl,
  Stack,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { IconButton } from '../../components/buttons.tsx';
import { FormDialog } from '../../components/dialogs.tsx';
import { Rows } from '../../components/rows.tsx';
import { Breakable, PathCode } from '../../components/text.tsx';
import { toChoices, withShortUrns } from '../../components/texts.ts';
import { useRead } from '../../requests/queries.ts';
import { labelsAt, type MappingNames, valuesAt } from './completion.ts';
import type { MarkedFault } from './draft.ts';
import { FaultTexts } from './faults.tsx';
import { OrderButtons } from './order-buttons.tsx';
import { RuleForm } from './rule-form.tsx';
import {
  addRule,
  faultPath,
  inputOf,
  moveRule,
  parseRules,
  removeRule,
  targetOf,
  transformsOf,
  type WrittenRule,
} from './rules.ts';

interface TableProps {
  connection: string;
  text: string;
  faults: MarkedFault[];
  names: MappingNames | undefined;
  /** The place of the rule to which a link has led, from 0; -1 if there is none. */
  chosen: number;
  onChange: (text: string) => void;
}

interface Row {
  rule: WrittenRule;
  index: number;
}

/** The rules of a mapping as a table, and the form of one. Each change is one of the text, whose layout stays. */
export function RulesTable({ connection, text, faults, names, chosen, onChange }: TableProps) {
  const [isAdding, setAdding] = useState(false);
  const [edited, setEdited] = useState<number>();
  // A form that opens gets the focus; that of a rule which moves does not open again.
  const [opening, setOpening] = useState(0);
  const open = (index: number) => {
    setEdited(index);
    setOpening(opening + 1);
  };
  const { container, moved, noteMove } = useFocusOfMoved();
  const addButton = useRef<HTMLButtonElement>(null);
  const rules = parseRules(text);
  if (!rules) return <NoTable />;
  const rows = rules.map((rule, index): Row => ({ rule, index }));
  const editedRule = edited === undefined ? undefined : rules[edited];
  const actions = {
    onEdit: open,
    onMove: ({ rule, index }: Row, by: -1 | 1) => {
      onChange(moveRule(text, index, by));
      noteMove({ to: index + by, by, name: targetOf(rule) });
      setEdited(indexAfterMove(edited, index, by));
    },
    onRemove: (index: number) => {
      onChange(removeRule(text, index));
      setEdited(indexAfterRemoval(edited, index));
      // The button that was pressed goes with the last row.
      if (index === rows.length - 1) addButton.current?.focus();
    },
  };
  return (
    <Stack gap="sm" ref={container}>
      <Rows
        label="Rules"
        rows={rows}
        keyOf={({ index }) => String(index)}
        isChosen={({ index }) => index === chosen}
        empty="This mapping has no rule of its own: each field has its default rule, see below."
        columns={columnsOf({ faults, edited, count: rows.length, ...actions })}
      />
      <VisuallyHidden role="status">
        {moved && `The rule for ${moved.name} is now at place ${moved.to + 1} of ${rows.length}.`}
      </VisuallyHidden>
      <Button w="fit-content" ref={addButton} aria-haspopup="dialog" onClick={() => setAdding(true)}>
        Add a rule
      </Button>
      {edited !== undefined && editedRule && (
        <RuleForm
          key={opening}
          {...{ text, faults, names, onChange, index: edited, rule: editedRule }}
          onClose={() => setEdited(undefined)}
        />
      )}
      {isAdding && (
        <AddRule
          {...{ connection, names }}
          onClose={() => setAdding(false)}
          onAdd={(rule) => {
            onChange(addRule(text, rule));
            open(rules.length);
          }}
        />
      )}
    </Stack>
  );
}

function NoTable() {
  return (
    <Alert color="red" title="The rules cannot be shown as a table">
      The text is not a JSON object with a list of rules. Correct it under JSON.
    </Alert>
  );
}

/** The place of the edited rule after another one, or itself, has moved from `index`. */
function indexAfterMove(edited: number | undefined, index: number, by: -1 | 1): number | undefined {
  if (edited === index) return index + by;
  return edited === index + by ? index : edited;
}

function indexAfterRemoval(edited: number | undefined, index: number): number | undefined {
  if (edited === undefined || edited === index) return undefined;
  return edited > index ? edited - 1 : edited;
}

interface Move {
  /** The new place of the rule, from 0. */
  to: number;
  by: -1 | 1;
  name: string;
}

/** The focus follows a rule that was moved, so that the same key moves it on. At the end of the list the other button has it. */
function useFocusOfMoved() {
  const container = useRef<HTMLDivElement>(null);
  const [moved, noteMove] = useState<Move>();
  useEffect(() => {
    if (!moved) return;
    const find = (by: number) =>
      container.current?.querySelector<HTMLButtonElement>(
        `[data-move="rules ${moved.to} ${by}"]:not(:disabled)`,
      );
    (find(moved.by) ?? find(-moved.by))?.focus();
  }, [moved]);
  return { container, moved, noteMove };
}

interface Actions {
  onEdit: (index: number) => void;
  onMove: (row: Row, by: -1 | 1) => void;
  onRemove: (index: number) => void;
}

function columnsOf({
  faults,
  edited,
  count,
  ...actions
}: Actions & { faults: MarkedFault[]; edited: number | undefined; count: number }) {
  return [
    {
      label: 'Sets',
      cell: ({ rule, index }: Row) => (
        <>
          <Breakable text={targetOf(rule)} />
          {/* The form shows the faults of its rule at the fields. */}
          {index !== edited && (
            <FaultTexts faults={faults.filter(({ path }) => path.startsWith(faultPath(index)))} />
          )}
        </>
      ),
      width: '26%',
    },
    {
      label: 'Reads',
      cell: ({ rule }: Row) => <PathCode text={withShortUrns(inputOf(rule))} />,
      width: '19%',
    },
    {
      label: 'When',
      cell: ({ rule: { when } }: Row) =>
        when === undefined ? 'always' : <PathCode text={withShortUrns(String(when))} />,
      width: '15%',
    },
    {
      label: 'Transforms',
      cell: ({ rule }: Row) => <span style={anywhere}>{transformsOf(rule) || '–'}</span>,
      width: '17%',
    },
    { label: 'Change', cell: (row: Row) => <ChangeButtons {...{ row, count, ...actions }} />, width: '23%' },
  ];
}

/** Paths and JSON have few places to break. */
const anywhere = { overflowWrap: 'anywhere' } as const;

function ChangeButtons({ row, count, onEdit, onMove, onRemove }: Actions & { row: Row; count: number }) {
  const { rule, index } = row;
  const name = `the rule for ${targetOf(rule)}`;
  return (
    <OrderButtons
      {...{ list: 'rules', at: index, count, name }}
      onMove={(by) => onMove(row, by)}
      onRemove={() => onRemove(index)}
    >
      <IconButton icon={IconPencil} label={`Edit ${name}`} onClick={() => onEdit(index)} />
    </OrderButtons>
  );
}

/** The inputs of a new rule: the value of an attribute, or a text. */
const inputs = { scimAttribute: 'What an attribute has', template: 'A fixed value' };
type InputMember = keyof typeof inputs;

interface AddRuleProps {
  connection: string;
  names: MappingNames | undefined;
  onAdd: (rule: WrittenRule) => void;
  onClose: () => void;
}

/** Asks what a new rule sets, what it gives, and for whom. Everything else is set in the form of the rule. */
export function AddRule({ connection, names, onAdd, onClose }: AddRuleProps) {
  const [target, setTarget] = useState('');
  const [member, setMember] = useState<InputMember>('scimAttribute');
  const [input, setInput] = useState('');
  const [group, setGroup] = useState('');
  const [when, setWhen] = useState('');
  const groups = useRead('findGroupNames', { connection, beginning: group.trim() });
  const attributes = labelsAt('userAttribute', names);
  const isField = target.startsWith('travelerPrefs.') || attributes.includes(target);
  const set = { [isField ? 'userAttribute' : 'customField']: target.trim() };
  const add = () => {
    const condition = toCondition(group.trim(), when.trim());
    onAdd({ [member]: input.trim(), ...set, ...(condition === undefined ? {} : { when: condition }) });
    onClose();
  };
  const field = { value: input, onChange: setInput, limit: 50, required: true };
  return (
    <FormDialog title="Add a rule" action="Add the rule" change={{ mutate: add }} onClose={onClose}>
      <Autocomplete
        label="Sets"
        description="A field of the traveler, or a custom field by its name"
        data={[...new Set([...attributes, ...labelsAt('customField', names)])]}
        value={target}
        onChange={setTarget}
        required
        data-autofocus
      />
      <SegmentedControl
        aria-label="To"
        data={toChoices(inputs)}
        value={member}
        onChange={(value) => setMember(value as InputMember)} // The values are those of the data.
      />
      {member === 'scimAttribute' ? (
        <Autocomplete {...field} label="Reads" description="A SCIM path" data={labelsAt(member, names)} />
      ) : (
        <Autocomplete
          {...field}
          label="Gives"
          description="A text; attributes in braces are replaced, e.g. {title}"
          data={valuesAt(['scimUserMapping', 0, 'template'], names, set).map(({ label }) => label)}
        />
      )}
      <Autocomplete
        label="Members of"
        description="For the members of one group only: its name, as the identity provider has sent it"
        data={groups.data?.names ?? []}
        value={group}
        onChange={setGroup}
      />
      <TextInput
        label="When"
        description='For some people only: a SCIM filter, e.g. userType eq "Contractor"'
        value={when}
        onChange={(event) => setWhen(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

/** The condition for the members of a group for whom a filter holds; undefined without both. */
function toCondition(group: string, when: string): string | undefined {
  const membership = group === '' ? [] : [`groups[display eq ${JSON.stringify(group)}]`];
  const filter = when === '' ? [] : [group === '' ? when : `(${when})`];
  const parts = [...membership, ...filter];
  return parts.length > 0 ? parts.join(' and ') : undefined;
}
