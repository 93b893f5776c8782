import { Group, Select, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import type { TravelApiKey } from '../../../../operations/credentials/credentials.ts';
import { CreationDialog, DialogButton, revokeColumn } from '../../components/dialogs.tsx';
import { type Column, LoadedRows } from '../../components/rows.tsx';
import { Time } from '../../components/text.tsx';
import { call } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';

/** The keys with which integrations call the travel API. */
export function ApiKeys({ admins }: { admins: string[] }) {
  const keys = useRead('listTravelApiKeys', {});
  const canChange = useIsAdmin();
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text c="dimmed">
          An integration sends a key as <code>Authorization: Bearer …</code>
        </Text>
        {canChange && (
          <DialogButton label="Create an API key" variant="filled">
            {(close) => <CreateKey admins={admins} onClose={close} />}
          </DialogButton>
        )}
      </Group>
      <LoadedRows
        query={keys}
        rowsOf={(data) => data.keys.filter(({ revokedAt }) => revokedAt === undefined)}
        label="API keys"
        columns={canChange ? [...columns, revocation] : columns}
        empty="There is no API key yet. Create one for each integration, so that each can be revoked by itself."
      />
    </>
  );
}

const columns: Column<TravelApiKey>[] = [
  { label: 'Name', cell: ({ name }) => name },
  { label: 'Acts for', cell: ({ email }) => email },
  { label: 'Access', cell: ({ isReadOnly }) => (isReadOnly ? 'reads' : 'reads and writes') },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" /> },
];

const revocation = revokeColumn('API key', {
  consequence: 'Every request with it is refused from now on. This cannot be undone.',
  revoke: (id) => call('revokeTravelApiKey', { id }),
});

function CreateKey({ admins, onClose }: { admins: string[]; onClose: () => void }) {
  const [email, setEmail] = useState(admins[0] ?? null);
  const [isReadOnly, setReadOnly] = useState(false);
  return (
    <CreationDialog
      title="Create an API key"
      action="Create the API key"
      nameText="The integration that will use it"
      create={async (name) =>
        (await call('createTravelApiKey', { name, email: email ?? '', isReadOnly })).key
      }
      secretText={(name) => `${name} sends this API key as a bearer. It is shown only now.`}
      onClose={onClose}
    >
      <Select
        label="Acts for"
        description="The key ends when this admin of the travel service is archived"
        data={admins}
        value={email}
        onChange={setEmail}
      />
      <Switch
        label="Can only read"
        checked={isReadOnly}
        onChange={({ currentTarget }) => setReadOnly(currentTarget.checked)}
      />
    </CreationDialog>
  );
}
