import { Badge, Select } from '@mantine/core';
import type { AdminAccount } from '../../../contract/accounts.ts';

type Role = AdminAccount['role'];

/** The column of the role of accounts and tokens. */
export const roleColumn = {
  label: 'Role',
  cell: ({ role }: { role: Role }) => (
    <Badge variant="default" tt="none">
      {role}
    </Badge>
  ),
};

/** Chooses the role of an account or a token. */
export function RoleSelect({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
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
