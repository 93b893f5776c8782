import { Alert, Button, Checkbox, Group, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call, RequestFailure } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Failure, LoadingView } from '../../components/loading.tsx';
import { useChange } from '../../queries.ts';
import { EffectWarning, useEffectOfMapping } from './effect.tsx';
import type { Applied } from './progress.tsx';

interface ApplyProps {
  connection: string;
  text: string;
  /** The version that the text was edited from. */
  generation: number;
  /** A version of the history that is to be in force again; undefined: the text is applied. */
  version?: number | undefined;
  onClose: () => void;
  onApplied: (applied: Applied | undefined) => void;
}

/** Shows what would change, and puts the mapping in force after a confirmation. */
export function ApplyDialog({ connection, text, generation, version, onClose, onApplied }: ApplyProps) {
  const [values, setValues] = useState(false);
  const effect = useEffectOfMapping(connection, text, {
    isEnabled: true,
    valuesSince: values ? version : undefined,
  });
  const apply = () =>
    version === undefined
      ? call('applyMapping', { connection, text, generation })
      : call('restoreMappingVersion', { connection, version, generation, values });
  const change = useChange(apply, {
    refreshes: 'all',
    onDone: ({ outcome, generation: now }) =>
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
        {effect.isLoading && <LoadingView />}
        <Failure error={effect.error} title="The effect cannot be computed" />
        {effect.data && <EffectWarning preview={effect.data} />}
        {change.error && <ChangeFailure error={change.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={!effect.data} loading={change.isPending} onClick={() => change.mutate()}>
            {version === undefined ? `Apply to ${connection}` : `Restore version ${version}`}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function ChangeFailure({ error }: { error: Error }) {
  const faults = error instanceof RequestFailure ? error.faults : [];
  return (
    <Alert color="red" role="alert" title="Nothing was applied">
      <Text size="sm">{error.message}</Text>
      <List size="sm">
        {faults.map(({ field, message }) => (
          <List.Item key={`${field} ${message}`}>
            {field}: {message}
          </List.Item>
        ))}
      </List>
      <Text size="sm">Your text stays as it is.</Text>
    </Alert>
  );
}
