import { Anchor, Collapse, List, Text } from '@mantine/core';
import { useState } from 'react';
import type { RulesEffect } from '../../../contract/holds.ts';
import { Rows } from '../../components/rows.tsx';
import { personHref, ViewLink } from '../../components/text.tsx';
import { countText } from '../../components/texts.ts';
import { fieldLabel, valueText } from '../mappings/texts.ts';
import { valuesText } from './texts.ts';

/** The effect of a held change of rules: its fields with the most frequent values, and examples on demand. */
export function ChangeEffect({ effect, connection }: { effect: RulesEffect; connection: string }) {
  const [isOpen, setOpen] = useState(false);
  const { fields, names, looked, isComplete, examples } = effect;
  return (
    <div aria-live="polite">
      <List size="sm" mt={4}>
        {fields.map((field) => (
          <List.Item key={field.field}>
            <b>{fieldLabel(field.field, names)}</b> of {countText(field.people, 'person', 'people')}:{' '}
            {valuesText(field, names)}
          </List.Item>
        ))}
      </List>
      {!isComplete && (
        <Text size="sm" c="dimmed">
          {countText(looked, 'person was', 'people were')} looked at so far. The count goes on.
        </Text>
      )}
      {examples.length > 0 && (
        <Anchor component="button" size="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide examples' : 'Show examples'}
        </Anchor>
      )}
      <Collapse expanded={isOpen}>
        <Examples effect={effect} connection={connection} />
      </Collapse>
    </div>
  );
}

function Examples({ effect: { examples, names }, connection }: { effect: RulesEffect; connection: string }) {
  return (
    <Rows
      label="Examples"
      rows={examples}
      keyOf={({ id }) => id}
      empty="Nobody would change."
      columns={[
        {
          label: 'Person',
          cell: ({ id, userName }) => <ViewLink href={personHref(connection, id)}>{userName}</ViewLink>,
        },
        {
          label: 'Changes',
          cell: ({ changes }) =>
            changes.map(({ field, before, after }) => (
              <Text key={field} size="sm">
                {fieldLabel(field, names)}: {valueText(before, names)} → {valueText(after, names)}
              </Text>
            )),
        },
      ]}
    />
  );
}
