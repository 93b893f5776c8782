import { Button, Group, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api.ts';
import { submits } from '../../components/creation-dialog.tsx';
import { Failure } from '../../components/loading.tsx';
import { useChange } from '../../queries.ts';
import type { Method } from './providers.ts';

/** A credential that was created in the wizard. Its secret is shown until the wizard is left, and cannot be read again. */
export type NewCredential = { token: string } | { clientId: string; clientSecret: string };

/** Creates a token or an OAuth client with a secret. */
export function CreateCredential({
  connection,
  method,
  suggestedName,
  onCreated,
}: {
  connection: string;
  method: Method;
  suggestedName: string;
  onCreated: (credential: NewCredential) => void;
}) {
  const [name, setName] = useState(suggestedName);
  const [days, setDays] = useState('0');
  const creation = useChange(() => create({ connection, name }, method, Number(days)), {
    refreshes: ['listTokens', 'listOAuthClients'],
    onDone: onCreated,
  });
  return (
    <form onSubmit={submits(creation.mutate)}>
      <Failure error={creation.error} mb="xs" />
      <Group align="flex-end" gap="xs">
        <TextInput
          size="xs"
          label="Name, for your own use"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
        />
        {method === 'token' && (
          <Select
            size="xs"
            label="Expires"
            data={expiries}
            value={days}
            allowDeselect={false}
            onChange={(chosen) => setDays(chosen ?? '0')}
          />
        )}
        <Button size="xs" type="submit" loading={creation.isPending}>
          {method === 'token' ? 'Create a token' : 'Create an OAuth client'}
        </Button>
      </Group>
    </form>
  );
}

const expiries = [
  { value: '0', label: 'never' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
];

async function create(
  request: { connection: string; name: string },
  method: Method,
  days: number,
): Promise<NewCredential> {
  if (method === 'token') {
    const { token } = await call('createToken', { ...request, ...(days > 0 ? { days } : {}) });
    return { token };
  }
  const { clientId, clientSecret = '' } = await call('createOAuthClient', request);
  return { clientId, clientSecret };
}
