import { Alert, Button, Select, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Secret } from '../../components/secret.tsx';
import { api, call, queryClient } from '../../session.ts';

/** Creates an account and shows its password once. */
export function AddAccount({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<'viewer' | 'admin'>('viewer');
  const creation = useMutation({
    mutationFn: () => call(api.accounts.createAccount({ name, role })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['accounts'] }),
  });
  return (
    <Dialog onClose={onClose} title="Add an account">
      {creation.data ? (
        <Secret value={creation.data.password} onDone={onClose}>
          {name} signs in with this password. It is shown only now; the account can change it after signing
          in.
        </Secret>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            creation.mutate();
          }}
        >
          <Stack>
            {creation.error && (
              <Alert color="red" role="alert">
                {creation.error.message}
              </Alert>
            )}
            <TextInput
              label="Name"
              description="A name or an email address"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              required
              data-autofocus
            />
            <RoleSelect value={role} onChange={setRole} />
            <Button type="submit" loading={creation.isPending}>
              Add the account
            </Button>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

/** Chooses the role of an account or a token. */
export function RoleSelect({
  value,
  onChange,
}: {
  value: 'viewer' | 'admin';
  onChange: (role: 'viewer' | 'admin') => void;
}) {
  return (
    <Select
      label="Role"
      data={['viewer', 'admin']}
      value={value}
      allowDeselect={false}
      onChange={(chosen) => onChange(chosen === 'admin' ? 'admin' : 'viewer')}
    />
  );
}
