import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call, RequestFailure } from '../../api.ts';
import { FormDialog } from '../../components/creation-dialog.tsx';
import { useChange, useRead } from '../../queries.ts';
import { type Mode, modeTexts } from '../shadow/texts.ts';

/** Adds a connection, with the default policies, which can be changed then. */
export function AddConnection({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const service = useRead('describeTravelService', {});
  const [name, setName] = useState('');
  const [kind, setKind] = useState<string>();
  const [api, setApi] = useState({ url: '', keyEnv: 'TRAVEL_API_KEY', profile: 'jetbridge' });
  const hasEmbedded = service.data?.embedded ?? true;
  const isEmbedded = (kind ?? (hasEmbedded ? 'embedded' : 'other')) === 'embedded';
  const travelApi = isEmbedded ? { url: 'embedded' } : api;
  const [mode, setMode] = useState<Mode>('live');
  const { error, isPending, mutate } = useChange(() => call('addConnection', { name, travelApi, mode }), {
    refreshes: 'all',
    onDone: () => navigate(`/connections/${name}`),
  });
  const faults = error instanceof RequestFailure ? error.faults : [];
  const input = (member: 'url' | 'keyEnv', label: string, description: string) => (
    <TextInput
      {...{ label, description }}
      value={api[member]}
      onChange={(event) => setApi({ ...api, [member]: event.currentTarget.value })}
      error={faults.find(({ field }) => field === `travelApi.${member}`)?.message}
      required
    />
  );
  return (
    <FormDialog
      title="Add a connection"
      action="Add the connection"
      onSubmit={mutate}
      isPending={isPending}
      error={faults.length > 0 ? null : error}
      noValidate
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Small letters, digits and hyphens, e.g. okta. It cannot be changed"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={faults.find(({ field }) => field === 'name')?.message}
        required
        data-autofocus
      />
      <Select
        label="Travel service"
        data={[
          { value: 'embedded', label: 'The embedded service', disabled: !hasEmbedded },
          { value: 'other', label: 'Another travel API' },
        ]}
        value={isEmbedded ? 'embedded' : 'other'}
        onChange={(chosen) => setKind(chosen ?? undefined)}
        allowDeselect={false}
      />
      {!isEmbedded && (
        <>
          {input('url', 'URL', 'Without /api, e.g. https://travel.example.com')}
          {input(
            'keyEnv',
            'Variable with the credential',
            'The environment variable of the service. Its URL must be that of a connection of the settings file, or in the variable of this name with _URL at its end',
          )}
          <Select
            label="Kind of travel API"
            data={['jetbridge', 'generic-rest']}
            value={api.profile}
            onChange={(profile) => setApi({ ...api, profile: profile ?? api.profile })}
            allowDeselect={false}
          />
        </>
      )}
      <Select
        label="Mode"
        description={modeTexts[mode].does}
        data={Object.entries(modeTexts).map(([value, { label }]) => ({ value: value as Mode, label }))}
        value={mode}
        onChange={(chosen) => setMode(chosen ?? mode)}
        allowDeselect={false}
      />
    </FormDialog>
  );
}
