import { NumberInput, Radio, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import type { Policy } from '../../../contract/connections.ts';
import { call, RequestFailure } from '../../api.ts';
import { FormDialog } from '../../components/creation-dialog.tsx';
import { useChange } from '../../queries.ts';

/** Changes one policy of a stored connection. */
export function PolicyForm({
  connection,
  policy,
  onClose,
}: {
  connection: string;
  policy: Policy;
  onClose: () => void;
}) {
  const { name, description, choices } = policy;
  const [value, setValue] = useState(policy.value);
  const change = useChange(() => call('changePolicies', { id: connection, policies: { [name]: value } }), {
    refreshes: ['describeConnection'],
    onDone: onClose,
  });
  const { error } = change;
  const faults = error instanceof RequestFailure ? error.faults : [];
  return (
    <FormDialog
      title={`Change ${name} of ${connection}`}
      action="Put it in force"
      size="lg"
      onSubmit={change.mutate}
      isPending={change.isPending}
      error={error && faults.length > 0 ? new Error(faults.map(({ message }) => message).join(' ')) : error}
      noValidate
      onClose={onClose}
    >
      <Text size="sm" c="dimmed">
        {description}
      </Text>
      {choices.length > 0 ? (
        <Radio.Group
          aria-label={name}
          value={String(value)}
          onChange={(chosen) => setValue(typeof policy.value === 'boolean' ? chosen === 'true' : chosen)}
        >
          <Stack gap="xs">
            {choices.map((choice) => (
              <Radio key={choice.value} value={choice.value} label={choice.value} description={choice.text} />
            ))}
          </Stack>
        </Radio.Group>
      ) : (
        <ValveFields value={value} onChange={setValue} />
      )}
    </FormDialog>
  );
}

const defaultValve = { share: 0.05, minimum: 20, windowMinutes: 60 };

/** The numbers of the safety valve; false without one. */
function ValveFields({ value, onChange }: { value: unknown; onChange: (value: unknown) => void }) {
  const valve: typeof defaultValve = { ...defaultValve, ...Object(value) };
  const isOn = value !== false;
  return (
    <>
      <Switch
        label="Limit how many people may leave"
        checked={isOn}
        onChange={({ currentTarget: { checked } }) => onChange(checked && defaultValve)}
      />
      {isOn && (
        <>
          <NumberInput
            label="Share of the active people, in percent"
            value={Math.round(valve.share * 1_000) / 10}
            onChange={(share) => onChange({ ...valve, share: Number(share) / 100 })}
          />
          <NumberInput
            label="People in any case"
            value={valve.minimum}
            onChange={(minimum) => onChange({ ...valve, minimum })}
          />
          <NumberInput
            label="Counted within, in minutes"
            value={valve.windowMinutes}
            onChange={(windowMinutes) => onChange({ ...valve, windowMinutes })}
          />
        </>
      )}
    </>
  );
}
