import { Anchor, Checkbox, Code, Collapse, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { fieldLabel, shownText } from '../../../../../model/value-texts.ts';
import type { ListedMappingPreview } from '../../../../../operations/mappings/mapping-changes.ts';
import { effectSentence, effectTexts } from '../../../../../provisioning/mapping-changes/mapping-texts.ts';
import { Answers, Dialog } from '../../../components/dialogs.tsx';
import { Failure, LoadingView } from '../../../components/loading.tsx';
import { Rows } from '../../../components/rows.tsx';
import { countText, findingLabel } from '../../../components/texts.ts';
import { call } from '../../../requests/api.ts';
import { useChange, useRead } from '../../../requests/queries.ts';
import type { Applied } from './progress.tsx';

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

interface EffectLineProps {
  preview: ListedMappingPreview;
  isReading: boolean;
  onPerson: (id: string) => void;
}

/** The effect on everybody: the sentence, removals apart, and examples on demand. */
export function EffectLine({ preview, isReading, onPerson }: EffectLineProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap={4} aria-live="polite" aria-busy={isReading}>
      <Group gap="xs">
        <Text fw={600}>{effectSentence(preview)}</Text>
        {preview.examples.length > 0 && (
          <Anchor component="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide examples' : 'Show examples'}
          </Anchor>
        )}
      </Group>
      <EffectDetails preview={preview} />
      <Collapse expanded={isOpen}>
        <Examples preview={preview} onPerson={onPerson} />
      </Collapse>
    </Stack>
  );
}

/** What a mapping removes and gives up, the new findings, and whether it would wait or not everybody was looked at. */
function EffectDetails({ preview }: { preview: ListedMappingPreview }) {
  const { removed, released } = effectTexts(preview);
  const comes = preview.findings.filter((finding) => finding.comes > 0);
  return (
    <>
      {preview.needsApproval && (
        <Text>
          ‖ More than 100 people would change: it waits, and the mapping in force stays so until an admin
          accepts it.
        </Text>
      )}
      {comes.length > 0 && (
        <Text>⚠ New findings: {comes.map((finding) => findingText(finding, preview.names)).join(', ')}.</Text>
      )}
      {removed && <Text c="var(--mantine-color-error)">⚠ {removed}</Text>}
      {released && <Text c="dimmed">{released}</Text>}
      {preview.isCut && (
        <Text c="dimmed">
          There are more people than could be looked at in 5 seconds.{' '}
          <Code>npx jetbridge mapping preview</Code> looks at everybody.
        </Text>
      )}
    </>
  );
}

function findingText(
  { field, code, comes }: ListedMappingPreview['findings'][number],
  names: ListedMappingPreview['names'],
) {
  return `${fieldLabel(field, names)} ${findingLabel(code)} for ${countText(comes, 'person', 'people')}`;
}

const outcomes = {
  changed: '',
  created: 'gets a traveler',
  pending: 'gets no traveler any more',
  outOfScope: 'is out of scope',
};

function Examples({ preview, onPerson }: { preview: ListedMappingPreview; onPerson: (id: string) => void }) {
  const { examples, names } = preview;
  return (
    <Rows
      label="Examples"
      rows={examples}
      empty="Nobody would change."
      columns={[
        {
          label: 'Person',
          cell: ({ id, userName }) => (
            <Anchor component="button" onClick={() => onPerson(id)}>
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
                <Text key={field}>
                  {fieldLabel(field, names)}: {shownText(before, names)} → {shownText(after, names)}
                  {isAgain && ' (sent again)'}
                </Text>
              ))}
              {comes.map(({ field, code, reason }) => (
                <Text key={`${field} ${code}`} c="dimmed">
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

interface ApplyProps {
  connection: string;
  text: string;
  /** The generation of the version that the text was edited from. */
  generation: number;
  /** A version of the history that is to be in force again; undefined: the text is applied. */
  version?: number | undefined;
  onClose: () => void;
  onApplied: (applied: Applied | undefined) => void;
  onPerson: (id: string) => void;
}

/** Shows what would change, and puts the mapping in force after a confirmation. */
export function ApplyDialog({
  connection,
  text,
  generation,
  version,
  onClose,
  onApplied,
  onPerson,
}: ApplyProps) {
  const [values, setValues] = useState(false);
  const stored = useRead(
    'readMappingVersion',
    { connection, version: String(version) },
    { enabled: version !== undefined },
  );
  const next = version === undefined ? text : stored.data?.text;
  const effect = useEffectOfMapping(connection, next ?? '', {
    isEnabled: next !== undefined,
    valuesSince: values ? version : undefined,
  });
  const apply = () =>
    version === undefined
      ? call('applyMapping', { connection, text, generation })
      : call('restoreMappingVersion', { connection, version, generation, values });
  const change = useChange(apply, {
    onDone: ({ outcome, version: now }) =>
      onApplied(outcome === 'applied' ? { version: now, people: effect.data?.people ?? 0 } : undefined),
  });
  const what = version === undefined ? 'this mapping' : `version ${version}`;
  return (
    <Dialog onClose={onClose} title={`Put ${what} in force for ${connection}?`} size="lg">
      <Stack>
        {version !== undefined && (
          <Checkbox
            label="Put back the values that later mappings have replaced"
            description="In fields that the restored mapping does not set. Without this, they keep the values of the later mappings. Values that somebody has entered in the travel service since then stay."
            checked={values}
            onChange={(event) => setValues(event.currentTarget.checked)}
          />
        )}
        {(effect.isLoading || stored.isLoading) && <LoadingView />}
        <Failure error={stored.error ?? effect.error} title="The effect cannot be computed" />
        {effect.data && (
          <EffectLine preview={effect.data} isReading={effect.isFetching} onPerson={onPerson} />
        )}
        <Answers
          action={version === undefined ? `Apply to ${connection}` : `Restore version ${version}`}
          {...{ onClose, error: change.error, isPending: change.isPending, isDisabled: !effect.data }}
          onConfirm={() => change.mutate()}
        />
      </Stack>
    </Dialog>
  );
}
