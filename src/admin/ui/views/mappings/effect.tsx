import { Alert, Anchor, Badge, Code, Collapse, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { MappingPreview } from '../../../contract/mappings.ts';
import { Rows } from '../../components/rows.tsx';
import { countText, numberText } from '../../components/texts.ts';
import { useRead } from '../../queries.ts';
import { fieldLabel, valueText } from './texts.ts';

/**
 * Reads the changes that a mapping would make for all people. `isEnabled` is false while the text has faults; `valuesSince` is the version whose
 * successors have replaced the values that are put back.
 */
export function useEffectOfMapping(
  connection: string,
  text: string,
  { isEnabled, valuesSince }: { isEnabled: boolean; valuesSince?: number | undefined },
) {
  return useRead(
    'previewMapping',
    { connection, text, examples: 20, valuesSince },
    { enabled: isEnabled, gcTime: 30_000 },
  );
}

/** One sentence, e.g. "This would change 214 of 1,204 people: 200 firstName, 14 costCenterId." */
export function effectSentence(preview: MappingPreview): string {
  const { changed, created, pending, outOfScope, people, fields, names, isCut } = preview;
  const total = `${isCut ? 'the first ' : ''}${countText(people, 'person', 'people')}`;
  const counted = (count: number, text: string) => (count > 0 ? [`${numberText(count)}${text}`] : []);
  const parts = fields.map(({ field, set, cleared, again, released }) => {
    const kinds = [
      ...counted(set + again, ''),
      ...counted(cleared, ' removed'),
      ...counted(released, ' no longer set'),
    ];
    return `${kinds.join(' + ')} ${fieldLabel(field, names)}`;
  });
  const others = [
    ...counted(created, ' would get a traveler at last.'),
    ...counted(pending, ' would get no traveler any more.'),
    ...counted(outOfScope, ' would be out of scope, and nothing is sent for them.'),
  ];
  const change =
    changed === 0 && parts.length === 0
      ? `This would change nobody of ${total}.`
      : `This would change ${numberText(changed)} of ${total}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`;
  return [change, ...others].join(' ');
}

/** The effect on everybody: the sentence, removals apart, and examples on demand. */
export function EffectLine({
  preview,
  isReading,
  onPerson,
}: {
  preview: MappingPreview;
  isReading: boolean;
  onPerson: (id: string) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const removals = preview.fields.filter(({ cleared }) => cleared > 0);
  return (
    <Stack gap={4} aria-live="polite" opacity={isReading ? 0.6 : 1}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {effectSentence(preview)}
        </Text>
        {preview.examples.length > 0 && (
          <Anchor component="button" size="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide examples' : 'Show examples'}
          </Anchor>
        )}
        {preview.needsApproval && <Badge color="yellow">‖ would be held for approval</Badge>}
      </Group>
      {removals.length > 0 && (
        <Text size="sm" c="var(--mantine-color-error)">
          ⚠ Removes the value of{' '}
          {removals
            .map(({ field, cleared }) => `${fieldLabel(field, preview.names)} for ${numberText(cleared)}`)
            .join(', ')}
          .
        </Text>
      )}
      {preview.isCut && (
        <Text size="sm" c="dimmed">
          There are more people than could be looked at in 5 seconds.{' '}
          <Code>npx jetbridge mapping preview</Code> looks at everybody.
        </Text>
      )}
      <Collapse expanded={isOpen}>
        <Examples preview={preview} onPerson={onPerson} />
      </Collapse>
    </Stack>
  );
}

const outcomes = {
  changed: '',
  created: 'gets a traveler',
  pending: 'gets no traveler any more',
  outOfScope: 'is out of scope',
};

function Examples({ preview, onPerson }: { preview: MappingPreview; onPerson: (id: string) => void }) {
  const { examples, names } = preview;
  return (
    <Rows
      label="Examples"
      rows={examples}
      keyOf={({ id }) => id}
      empty="Nobody would change."
      columns={[
        {
          label: 'Person',
          cell: ({ id, userName }) => (
            <Anchor component="button" size="sm" onClick={() => onPerson(id)}>
              {userName}
            </Anchor>
          ),
        },
        {
          label: 'Changes',
          cell: ({ outcome, changes, comes }) => (
            <>
              {outcomes[outcome]}
              {changes.map(({ field, before, after, isAgain }) => (
                <Text key={field} size="sm">
                  {fieldLabel(field, names)}: {valueText(before, names)} → {valueText(after, names)}
                  {isAgain && ' (sent again)'}
                </Text>
              ))}
              {comes.map(({ field, code, reason }) => (
                <Text key={`${field} ${code}`} size="sm" c="dimmed">
                  new finding, {fieldLabel(field, names)}: {reason}
                </Text>
              ))}
            </>
          ),
        },
      ]}
    />
  );
}

/** The consequences of a mapping, for the dialog in which the admin confirms it. */
export function EffectWarning({ preview }: { preview: MappingPreview }) {
  return (
    <>
      <Text>{effectSentence(preview)}</Text>
      {preview.needsApproval && (
        <Alert color="yellow" title="It will be held">
          More than 100 people would change. The mapping comes into force, but nothing is sent for them until
          an admin approves it under Held.
        </Alert>
      )}
    </>
  );
}
