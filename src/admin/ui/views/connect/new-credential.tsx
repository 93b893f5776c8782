import { Alert, Button, Group, Select, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { queryClient } from '../../session.ts';
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
  const creation = useMutation({
    mutationFn: () => create({ connection, name }, method, Number(days)),
    onSuccess: (credential) => {
      onCreated(credential);
      return queryClient.invalidateQueries({ queryKey: [method === 'token' ? 'tokens' : 'oauth-clients'] });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        creation.mutate();
      }}
    >
      {creation.error && (
        <Alert color="red" role="alert" mb="xs">
          {creation.error.message}
        </Alert>
      )}
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
