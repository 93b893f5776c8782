import { Button, Group, Select, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TravelApiKey } from '../../../contract/travel.ts';
import { call } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CreationDialog, NameField } from '../../components/creation-dialog.tsx';
import { Loaded } from '../../components/loading.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { queryClient, useSession } from '../../session.ts';

const queryKey = ['travel', 'keys'];

/** The keys with which integrations call the travel API. */
export function ApiKeys({ admins }: { admins: string[] }) {
  const keys = useQuery({ queryKey, queryFn: () => call('listTravelApiKeys') });
  const [isAdding, setAdding] = useState(false);
  const [revoked, setRevoked] = useState<TravelApiKey>();
  const canChange = useSession()?.role === 'admin';
  const columns = [
    ...dataColumns,
    ...(canChange
      ? [
          {
            label: 'Action',
            cell: (key: TravelApiKey) => (
              <Button
                size="compact-xs"
                variant="default"
                aria-haspopup="dialog"
                aria-label={`Revoke ${key.name}`}
                onClick={() => setRevoked(key)}
              >
                Revoke…
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          An integration sends a key as <code>Authorization: Bearer …</code>
        </Text>
        {canChange && (
          <Button size="xs" aria-haspopup="dialog" onClick={() => setAdding(true)}>
            Create an API key
          </Button>
        )}
      </Group>
      <Loaded query={keys}>
        {(data) => (
          <Rows
            label="API keys"
            rows={data.keys.filter(({ revokedAt }) => revokedAt === undefined)}
            keyOf={({ id }) => id}
            columns={columns}
            empty="There is no API key yet. Create one for each integration, so that each can be revoked by itself."
          />
        )}
      </Loaded>
      {isAdding && <CreateKey admins={admins} onClose={() => setAdding(false)} />}
      {revoked && <RevokeKey apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

const dataColumns = [
  { label: 'Name', cell: ({ name }: TravelApiKey) => name },
  { label: 'Acts for', cell: ({ email }: TravelApiKey) => email },
  { label: 'Created', cell: ({ createdAt }: TravelApiKey) => <Time at={createdAt} /> },
  {
    label: 'Last used',
    cell: ({ lastUsedAt }: TravelApiKey) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never'),
  },
];

function CreateKey({ admins, onClose }: { admins: string[]; onClose: () => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState(admins[0] ?? null);
  const creation = useMutation({
    mutationFn: () => call('createTravelApiKey', { name, email: email ?? '' }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  });
  return (
    <CreationDialog
      title="Create an API key"
      action="Create the API key"
      creation={creation}
      secretOf={({ key }) => key}
      secretText={`${name} sends this API key as a bearer. It is shown only now.`}
      onClose={onClose}
    >
      <NameField description="The integration that will use it" value={name} onChange={setName} />
      <Select
        label="Acts for"
        description="The key ends when this admin of the travel service is archived"
        data={admins}
        value={email}
        onChange={setEmail}
        allowDeselect={false}
      />
    </CreationDialog>
  );
}

function RevokeKey({ apiKey: { id, name }, onClose }: { apiKey: TravelApiKey; onClose: () => void }) {
  const revocation = useMutation({
    mutationFn: () => call('revokeTravelApiKey', { id }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey });
      onClose();
    },
  });
  return (
    <Confirm
      title={`Revoke the API key ${name}?`}
      action={`Revoke ${name}`}
      mutation={revocation}
      onClose={onClose}
      isDestructive
    >
      <Text>Every request with it is refused from now on. This cannot be undone.</Text>
    </Confirm>
  );
}
