import { Alert, Button, Stack, VisuallyHidden } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { fieldLabel } from '../../../../../model/value-texts.ts';
import { IconButton } from '../../../components/buttons.tsx';
import { FieldName } from '../../../components/field-name.tsx';
import { Rows } from '../../../components/rows.tsx';
import type { MappingNames } from '../editor/completion.ts';
import type { MarkedFault } from '../editor/draft.ts';
import { FaultTexts } from '../editor/faults.tsx';
import { OrderButtons } from '../form/order-buttons.tsx';
import { RuleForm } from '../form/rule-form.tsx';
import { inputOf, writtenInput } from '../rules/rule-words.ts';
import { faultPath, fieldOf, moved, parseRules, type WrittenRule, withRules } from '../rules/rules.ts';
import { InputCell, WhomCell } from './rule-cells.tsx';

interface TableProps {
  connection: string;
  text: string;
  faults: MarkedFault[];
  names: MappingNames | undefined;
  /** The names of custom fields by key. */
  fieldNames: Partial<Record<string, string>>;
  /** The place of the rule to which a link has led, from 0; -1 if there is none. */
  chosen: number;
  onChange: (text: string) => void;
}

interface Row {
  rule: WrittenRule;
  index: number;
}

/** The rules of a mapping as a table, and the form of one. Each change is one of the text. */
export function RulesTable({ text, faults, fieldNames, chosen, onChange, ...shared }: TableProps) {
  const [edited, setEdited] = useState<number>();
  // A new rule, until it says what it sets and from what.
  const [begun, setBegun] = useState<WrittenRule>();
  // A form that opens gets the focus; that of a rule which moves does not open again.
  const [opening, setOpening] = useState(0);
  const open = (index: number, newRule?: WrittenRule) => {
    setBegun(newRule);
    setEdited(index);
    setOpening(opening + 1);
  };
  const { container, moved: move, noteMove } = useFocusOfMoved();
  const addButton = useRef<HTMLButtonElement>(null);
  const rules = parseRules(text);
  if (!rules) return <NoTable />;
  const change = (next: WrittenRule[]) => onChange(withRules(text, next));
  const editedRule = begun ?? (edited === undefined ? undefined : rules[edited]);
  const labelOf = (rule: WrittenRule) => fieldLabel(fieldOf(rule), fieldNames);
  const actions = {
    onEdit: open,
    onMove: ({ rule, index }: Row, by: -1 | 1) => {
      change(moved(rules, index, by));
      noteMove({ to: index + by, by, name: labelOf(rule) });
      setEdited(indexAfterMove(edited, index, by));
    },
    onRemove: (index: number) => {
      change(rules.toSpliced(index, 1));
      setEdited(indexAfterRemoval(edited, index));
      // The button that was pressed goes with the last row.
      if (index === rules.length - 1) addButton.current?.focus();
    },
  };
  const changeRule = (rule: WrittenRule) => {
    const isIncomplete = begun !== undefined && !isComplete(rule);
    setBegun(isIncomplete ? rule : undefined);
    if (!isIncomplete && edited !== undefined) change(rules.toSpliced(edited, 1, rule));
  };
  return (
    <Stack gap="sm" ref={container}>
      <Rows
        label="Rules"
        rows={rules.map((rule, index): Row => ({ rule, index }))}
        keyOf={({ index }) => String(index)}
        isChosen={({ index }) => index === chosen}
        empty="This mapping has no rule of its own: the default rules below decide."
        columns={columnsOf({ faults, edited, count: rules.length, labelOf, fieldNames, ...actions })}
      />
      <VisuallyHidden role="status">
        {move && `The rule for ${move.name} is now at place ${move.to + 1} of ${rules.length}.`}
      </VisuallyHidden>
      <Button
        w="fit-content"
        ref={addButton}
        onClick={() => open(rules.length, { scimAttribute: '', userAttribute: '' })}
      >
        Add a rule
      </Button>
      {edited !== undefined && editedRule && (
        <RuleForm
          key={opening}
          {...{ ...shared, faults, fieldNames, index: edited, rule: editedRule }}
          isNew={begun !== undefined}
          onChange={changeRule}
          onClose={() => {
            setBegun(undefined);
            setEdited(undefined);
          }}
        />
      )}
    </Stack>
  );
}

/** True if a new rule says what it sets, and from what. */
function isComplete(rule: WrittenRule): boolean {
  const written = writtenInput(inputOf(rule));
  return fieldOf(rule) !== '' && (Array.isArray(written) ? written.length > 0 : written !== '');
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

interface ColumnsProps extends Pick<TableProps, 'faults' | 'fieldNames'> {
  edited: number | undefined;
  count: number;
  labelOf: (rule: WrittenRule) => string;
  onEdit: (index: number) => void;
  onMove: (row: Row, by: -1 | 1) => void;
  onRemove: (index: number) => void;
}

function columnsOf({ faults, edited, count, labelOf, fieldNames, onEdit, onMove, onRemove }: ColumnsProps) {
  return [
    {
      label: 'Field',
      cell: ({ rule, index }: Row) => (
        <>
          <FieldName field={fieldOf(rule)} names={fieldNames} />
          {/* The form shows the faults of its rule at the fields. */}
          {index !== edited && (
            <FaultTexts faults={faults.filter(({ path }) => path.startsWith(faultPath(index)))} />
          )}
        </>
      ),
      width: '24%',
    },
    { label: 'Value', cell: ({ rule }: Row) => <InputCell rule={rule} />, width: '30%' },
    { label: 'For whom', cell: ({ rule: { when } }: Row) => <WhomCell when={when} />, width: '24%' },
    {
      label: 'Change',
      isAction: true as const,
      cell: (row: Row) => (
        <OrderButtons
          {...{ list: 'rules', at: row.index, count, name: `the rule for ${labelOf(row.rule)}` }}
          onMove={(by) => onMove(row, by)}
          onRemove={() => onRemove(row.index)}
        >
          <IconButton
            icon={IconPencil}
            label={`Edit the rule for ${labelOf(row.rule)}`}
            onClick={() => onEdit(row.index)}
          />
        </OrderButtons>
      ),
      width: '22%',
    },
  ];
}
