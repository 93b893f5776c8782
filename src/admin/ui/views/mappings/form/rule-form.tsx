import { Button, Group, Paper, SimpleGrid, Stack, Title } from '@mantine/core';
import { useEffect, useId, useRef } from 'react';
import { fieldLabel } from '../../../../../model/value-texts.ts';
import { useFocusReturn } from '../../../components/dialogs.tsx';
import type { MarkedFault } from '../editor/draft.ts';
import { FaultTexts } from '../editor/faults.tsx';
import { inputKinds } from '../rules/rule-words.ts';
import { faultPath, fieldOf } from '../rules/rules.ts';
import { type EditedRule, faultsAt, isAt, targets } from './edited-rule.tsx';
import { FieldSelect, InputFields, WhomFields } from './rule-fields.tsx';
import { TransformsForm } from './transforms-form.tsx';

/** The members with a field of their own, which shows their faults. */
const members = [...targets, ...Object.values(inputKinds).map(({ member }) => member), 'when', 'transforms'];

interface RuleFormProps extends EditedRule {
  /** True for a rule that does not say yet what it sets, and from what. */
  isNew: boolean;
  onClose: () => void;
}

/** The fields of one rule. Each key stroke changes the text, so that the example person follows. */
export function RuleForm({ isNew, onClose, ...edited }: RuleFormProps) {
  useFocusReturn();
  const { index, rule, faults, fieldNames } = edited;
  const titleId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const isElsewhere = ({ path }: MarkedFault) =>
    path.startsWith(faultPath(index)) &&
    !members.some((member) => isAt(path, faultPath(index, `.${member}`)));
  const name = isNew ? 'A new rule' : `Rule ${index + 1}: ${fieldLabel(fieldOf(rule), fieldNames)}`;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={titleId}>
      <Stack gap="sm">
        <Title order={2} size="h5" id={titleId} ref={title} tabIndex={-1} className="rule-title">
          {name}
        </Title>
        <FaultTexts faults={faults.filter(isElsewhere)} />
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <FieldSelect {...edited} />
          <InputFields {...edited} />
          <WhomFields {...edited} />
          <TransformsForm {...edited} error={faultsAt(edited, 'transforms')} />
        </SimpleGrid>
        <Group>
          {isNew ? (
            <Button onClick={onClose}>Cancel</Button>
          ) : (
            <Button variant="filled" onClick={onClose}>
              Done
            </Button>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}
