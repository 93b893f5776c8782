import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { CreationDialog, NameField } from '../../components/creation-dialog.tsx';
import { queryClient } from '../../session.ts';
import { RoleSelect } from './role.tsx';

/** Creates an account and shows its password once. */
export function AddAccount({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<'viewer' | 'admin'>('viewer');
  const creation = useMutation({
    mutationFn: () => call('createAccount', { name, role }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['accounts'] }),
  });
  return (
    <CreationDialog
      title="Add an account"
      action="Add the account"
      creation={creation}
      secretOf={({ password }) => password}
      secretText={`${name} signs in with this password. It is shown only now; the account can change it after signing in.`}
      onClose={onClose}
    >
      <NameField description="A name or an email address" value={name} onChange={setName} />
      <RoleSelect value={role} onChange={setRole} />
    </CreationDialog>
  );
}
