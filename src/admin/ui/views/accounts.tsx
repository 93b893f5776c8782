import {
  Alert,
  Badge,
  Button,
  Code,
  CopyButton,
  Group,
  Modal,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AdminAccount } from '../api-client.ts';
import { Loaded } from '../components/loading.tsx';
import { Rows } from '../components/rows.tsx';
import { Time } from '../components/time.tsx';
import { ViewHead } from '../components/view-head.tsx';
import { api, call, queryClient, useSession } from '../session.ts';

/** Who may sign in. */
export function AccountsView() {
  const accounts = useQuery({ queryKey: ['accounts'], queryFn: () => call(api.accounts.listAccounts()) });
  const [isAdding, setAdding] = useState(false);
  const canChange = useSession()?.role === 'admin';
  return (
    <>
      <ViewHead
        title="Accounts"
        actions={canChange && <Button onClick={() => setAdding(true)}>Add an account</Button>}
      >
        Who may sign in here. A viewer sees everything and changes nothing.
      </ViewHead>
      <Loaded query={accounts}>
        {(data) => (
          <Rows
            label="Accounts"
            rows={data.accounts.filter(({ revokedAt }) => revokedAt === undefined)}
            keyOf={({ id }) => id}
            columns={columns}
            empty="There is no account."
          />
        )}
      </Loaded>
      {isAdding && <AddAccount onClose={() => setAdding(false)} />}
    </>
  );
}

const columns = [
  { label: 'Name', cell: ({ name }: AdminAccount) => name },
  { label: 'Role', cell: ({ role }: AdminAccount) => <Badge variant="light">{role}</Badge> },
  { label: 'Made', cell: ({ createdAt }: AdminAccount) => <Time at={createdAt} /> },
  {
    label: 'Last sign-in',
    cell: ({ lastSignInAt }: AdminAccount) => (lastSignInAt ? <Time at={lastSignInAt} /> : 'never'),
  },
];

/** Creates an account and shows its password once. */
function AddAccount({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<'viewer' | 'admin'>('viewer');
  const creation = useMutation({
    mutationFn: () => call(api.accounts.createAccount({ name, role })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['accounts'] }),
  });
  return (
    <Modal opened onClose={onClose} title="Add an account">
      {creation.data ? (
        <Stack>
          <Text>
            {name} signs in with this password. It is shown only now; the account can change it after signing
            in.
          </Text>
          <Group>
            <Code fz="md">{creation.data.password}</Code>
            <CopyButton value={creation.data.password}>
              {({ copied, copy }) => (
                <Button size="xs" variant="default" onClick={copy}>
                  {copied ? 'Copied' : 'Copy'}
                </Button>
              )}
            </CopyButton>
          </Group>
          <Button onClick={onClose}>Done</Button>
        </Stack>
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
            <Select
              label="Role"
              data={['viewer', 'admin']}
              value={role}
              onChange={(chosen) => setRole(chosen === 'admin' ? 'admin' : 'viewer')}
            />
            <Button type="submit" loading={creation.isPending}>
              Add the account
            </Button>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
