import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ConnectionDetails } from '../../../../operations/connections/connections.ts';
import { Copyable } from '../../components/buttons.tsx';
import { ConfirmButton, submits } from '../../components/dialogs.tsx';
import { Failure, Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Breakable, Section } from '../../components/text.tsx';
import { call } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';

type Workload = ConnectionDetails['federation'][number];

const tenantId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the issuer of a tenant of Entra ID, or the text if it is no id of a tenant. */
function issuerOf(text: string): string {
  return tenantId.test(text) ? `https://login.microsoftonline.com/${text}/v2.0` : text;
}

/** Asks for issuer, subject and audience, and lets the workload in: a connection of this page at once, one of the file by its settings. */
export function TrustWorkload({ connection, isEntra }: { connection: string; isEntra: boolean }) {
  const details = useRead('describeConnection', { id: connection });
  return (
    <Loaded query={details}>
      {({ source, federation }) => (
        <WorkloadForm {...{ connection, isEntra, trusted: federation }} isOfFile={source === 'file'} />
      )}
    </Loaded>
  );
}

interface WorkloadFormProps {
  connection: string;
  isEntra: boolean;
  trusted: Workload[];
  isOfFile: boolean;
}

function WorkloadForm({ connection, isEntra, trusted, isOfFile }: WorkloadFormProps) {
  const [written, setWritten] = useState<Workload>({ issuer: '', subject: '', audience: '' });
  const { issuer, subject, audience } = written;
  const workload = {
    issuer: issuerOf(issuer.trim()),
    ...{ subject: subject.trim(), audience: audience.trim() },
  };
  const change = useChange(() =>
    call('changeAccess', { id: connection, federation: [...trusted, workload] }),
  );
  const input = (member: keyof Workload, label: string, description: string) => (
    <TextInput
      {...{ label, description }}
      size="xs"
      value={written[member]}
      onChange={(event) => setWritten({ ...written, [member]: event.currentTarget.value })}
      required
    />
  );
  const isTrusted = trusted.some((one) => JSON.stringify(one) === JSON.stringify(workload));
  const isComplete = Object.values(workload).every((text) => text !== '');
  return (
    <form onSubmit={submits(change.mutate)}>
      <Stack gap="xs">
        <Failure error={change.error} />
        {isEntra
          ? input(
              'issuer',
              'Issuer, or the id of your tenant',
              'https://login.microsoftonline.com/<tenant id>/v2.0',
            )
          : input('issuer', 'Issuer', 'Exactly as in the claim “iss”')}
        {input(
          'subject',
          'Subject',
          isEntra ? 'The object id of the workload identity' : 'As in the claim “sub”',
        )}
        {input('audience', 'Audience', isEntra ? 'api://<application id>' : 'As in the claim “aud”')}
        {isOfFile
          ? isComplete &&
            !isTrusted && <SettingsOf connection={connection} federation={[...trusted, workload]} />
          : !isTrusted && (
              <div>
                <Button variant="filled" type="submit" loading={change.isPending}>
                  Trust this workload
                </Button>
              </div>
            )}
        {isTrusted && <Text role="status">✓ {connection} trusts this workload.</Text>}
      </Stack>
    </form>
  );
}

/** What the settings file needs. */
function SettingsOf({ connection, federation }: { connection: string; federation: Workload[] }) {
  return (
    <Text>
      The settings file fixes the connection {connection}. Add this to it there, and restart the service:{' '}
      <Copyable name="the setting" text={JSON.stringify({ federation }).slice(1, -1)} />
    </Text>
  );
}

/** The workloads that a connection trusts; nothing without any. `canRemove`: they can be removed here. */
export function Workloads({
  id,
  federation,
  canRemove,
}: {
  id: string;
  federation: Workload[];
  canRemove: boolean;
}) {
  if (federation.length === 0) return null;
  const remove: Column<Workload> = {
    ...{ label: 'Action', isAction: true },
    cell: (workload) => (
      <ConfirmButton
        label="Remove…"
        name={`Remove the workload ${workload.subject}`}
        button={{ size: 'compact-xs' }}
        title={`Remove the workload ${workload.subject}?`}
        action="Remove the workload"
        change={() => {
          const others = federation.filter((one) => one !== workload);
          return call('changeAccess', { id, federation: others.length > 0 ? others : null });
        }}
        isDestructive
      >
        <Text size="md">It is refused from the next request on, also with the tokens that it got.</Text>
      </ConfirmButton>
    ),
  };
  return (
    <Section title="Workloads without a secret">
      <Rows
        label="Workloads"
        rows={federation}
        keyOf={(workload) => JSON.stringify(workload)}
        columns={canRemove ? [...workloadColumns, remove] : workloadColumns}
      />
    </Section>
  );
}

const workloadColumns: Column<Workload>[] = (
  [
    ['Issuer', 'issuer'],
    ['Subject', 'subject'],
    ['Audience', 'audience'],
  ] as const
).map(([label, member]) => ({ label, cell: (workload) => <Breakable text={workload[member]} /> }));
