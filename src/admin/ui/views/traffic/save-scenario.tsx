import { Alert, Group, Input, Select, Text, TextInput } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { DialogButton, FormDialog } from '../../components/dialogs.tsx';
import { PersonFilter, toLocal, toUtc } from '../../components/filters.tsx';
import { call, faultOf, type Input as OperationInput } from '../../requests/api.ts';
import { useChange } from '../../requests/queries.ts';
import { type TrafficFilter, useExchangeLog } from './query.ts';

const HOUR_MS = 60 * 60_000;

type ScenarioStart = Pick<TrafficFilter, 'connection' | 'person' | 'since' | 'until'>;

/** A button that opens the dialog in which SCIM requests are saved as scenarios. */
export function SaveScenarioButton({ start }: { start: ScenarioStart }) {
  return (
    <DialogButton label="Save as scenario" leftSection={<IconDownload size={14} />}>
      {(close) => <SaveScenario start={start} onClose={close} />}
    </DialogButton>
  );
}

/** Downloads SCIM requests of a time, or about a person, as scenario files with invented people. */
function SaveScenario({ start, onClose }: { start: ScenarioStart; onClose: () => void }) {
  const connections = useExchangeLog().data?.connections.map(({ id }) => id) ?? [];
  const [chosen, setConnection] = useState(start.connection);
  const connection = chosen ?? connections[0] ?? '';
  const [person, setPerson] = useState(start.person);
  const [since, setSince] = useState(start.since ?? new Date(Date.now() - HOUR_MS).toISOString());
  const [until, setUntil] = useState(start.until);
  const saving = useChange(() => saveScenarios({ connection, person, since, until }), { refreshes: [] });
  return (
    <FormDialog
      title="Save as scenario"
      action="Download"
      change={saving}
      fields={['since']}
      onClose={onClose}
    >
      <Text c="dimmed">
        The SCIM requests become files that npx jetbridge replay plays against any service. Every name,
        address and number in them is replaced by an invented one.
      </Text>
      {saving.data && (
        <Alert color={saving.data.files > 0 ? 'green' : 'yellow'} role="status">
          {resultText(saving.data)}
        </Alert>
      )}
      {connections.length > 1 && (
        <Select
          label="Connection"
          data={connections}
          value={connection}
          onChange={(value) => setConnection(value ?? undefined)}
        />
      )}
      <Input.Wrapper label="Person" labelElement="div" description="Nobody: all requests of the time">
        <PersonFilter person={person} onChange={setPerson} />
      </Input.Wrapper>
      <Group grow>
        <TextInput
          label="From"
          type="datetime-local"
          required
          value={toLocal(since)}
          error={faultOf(saving.error, 'since')}
          onChange={({ currentTarget }) => setSince(toUtc(currentTarget.value) ?? '')}
        />
        <TextInput
          label="Until"
          type="datetime-local"
          description=""
          value={until === undefined ? '' : toLocal(until)}
          onChange={({ currentTarget }) => setUntil(toUtc(currentTarget.value))}
        />
      </Group>
    </FormDialog>
  );
}

async function saveScenarios(choice: OperationInput<'saveScenario'>) {
  const { scenarios, leftOut } = await call('saveScenario', choice);
  for (const scenario of scenarios)
    download(`${String(scenario['name'])}.json`, `${JSON.stringify(scenario, null, 2)}\n`);
  return { files: scenarios.length, leftOut };
}

/** Saves a text as a file of this computer. */
function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

function resultText({ files, leftOut }: Awaited<ReturnType<typeof saveScenarios>>): string {
  if (files === 0) return 'There are no requests of an identity provider in that time.';
  const saved = files === 1 ? '1 file was saved.' : `${files} files were saved.`;
  return [saved, ...leftOut.map(({ reason, count }) => `${count} left out: ${reason}.`)].join(' ');
}
