import { NumberInput, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { ConnectionDetails } from '../../../../operations/connections/connections.ts';
import { FormDialog } from '../../components/dialogs.tsx';
import { call } from '../../requests/api.ts';
import { useChange } from '../../requests/queries.ts';

interface LimitsFormProps {
  connection: string;
  limits: ConnectionDetails['limits'];
  onClose: () => void;
}

/** Changes the limits of a stored connection. An empty field is no limit. */
export function LimitsForm({ connection, limits, onClose }: LimitsFormProps) {
  const settingOf = (name: string) => limits.find((limit) => limit.name === name)?.value;
  const [rate, setRate] = useState(String(settingOf('requestsPerSecond') ?? ''));
  const [addresses, setAddresses] = useState([settingOf('allowFrom') ?? []].flat().join('\n'));
  const change = useChange(
    () => {
      const allowFrom = addresses.split(/[\s,]+/).filter((entry) => entry !== '');
      return call('changeAccess', {
        id: connection,
        requestsPerSecond: rate === '' ? null : Number(rate),
        allowFrom: allowFrom.length > 0 ? allowFrom : null,
      });
    },
    { onDone: onClose },
  );
  return (
    <FormDialog
      title={`Limits of ${connection}`}
      action="Put them in force"
      change={change}
      noValidate
      onClose={onClose}
    >
      <NumberInput
        label="Requests in a second"
        description="Further ones get 429. Empty: no limit"
        value={rate}
        onChange={(value) => setRate(String(value))}
        allowDecimal={false}
        allowNegative={false}
      />
      <Textarea
        label="Addresses"
        description="One on each line, e.g. 203.0.113.0/24. Others get 403. Empty: all"
        value={addresses}
        onChange={(event) => setAddresses(event.currentTarget.value)}
        autosize
        minRows={3}
      />
    </FormDialog>
  );
}
