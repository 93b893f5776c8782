import { Alert, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { NamedResource } from '../../../../operations/travel/lists.ts';
import { FormDialog } from '../../components/dialogs.tsx';
import { toChoices } from '../../components/texts.ts';
import { call, faultOf } from '../../requests/api.ts';
import { useChange } from '../../requests/queries.ts';
import type { ListPlace } from './resources.tsx';
import { placesText } from './texts.ts';

/** The fields that show their faults. The travel API calls the name of an option `data`. */
const fields = ['name', 'data', 'email', 'lang', 'control', 'dataType'];

/** Creates an entry of a list in the embedded travel service. */
export function CreateResource({ kind, onClose }: { kind: ListPlace; onClose: () => void }) {
  const { list, field, one } = kind;
  const [name, setName] = useState('');
  const [others, setOthers] = useState(firstValues[list] ?? {});
  const creation = useChange(
    () => call('createNamedResource', { list, name, ...others, ...(field && { field }) }),
    { onDone: onClose },
  );
  const { error } = creation;
  const fault = (member: string) => faultOf(error, member);
  const choose = (member: string) => (value: string | null) =>
    setOthers({ ...others, [member]: value ?? '' });
  return (
    <FormDialog
      title={`Create: ${one}`}
      action={`Create the ${one}`}
      change={creation}
      fields={fields}
      noValidate
      onClose={onClose}
    >
      <NameInput value={name} onChange={setName} error={error} />
      {'email' in others && (
        <TextInput
          label="Email"
          description="Invoices are sent there"
          type="email"
          value={others['email']}
          onChange={(event) => choose('email')(event.currentTarget.value)}
          error={fault('email')}
          required
        />
      )}
      {Object.entries(choices[list] ?? {}).map(([member, [label, labels]]) => (
        <Select
          key={member}
          label={label}
          data={toChoices(labels)}
          value={others[member] ?? null}
          onChange={choose(member)}
          error={fault(member)}
          allowDeselect={false}
        />
      ))}
    </FormDialog>
  );
}

type PerList<T> = Partial<Record<ListPlace['list'], T>>;

/** The other members of a new entry, with the values that the form begins with. */
const firstValues: PerList<Record<string, string>> = {
  billingProfiles: { email: '', lang: 'en' },
  travelPolicies: { control: 'none' },
  customFields: { dataType: 'text' },
};

/** The fields with choices: the label of each, and its labels by value. */
const choices: PerList<Record<string, [label: string, labels: Record<string, string>]>> = {
  billingProfiles: { lang: ['Language of invoices', { en: 'English', fr: 'French' }] },
  travelPolicies: {
    control: [
      'Approval of bookings',
      {
        none: 'No booking needs one',
        notif: 'No booking needs one; the approver is notified',
        smart: 'Bookings need one by the rules of the policy',
        full: 'Each booking needs one',
      },
    ],
  },
  customFields: {
    dataType: [
      'Values',
      { text: 'A text', option: 'One of several options', optionsList: 'Any number of options' },
    ],
  },
};

interface RenameResourceProps {
  kind: ListPlace;
  resource: NamedResource;
  onClose: () => void;
}

/** Names an entry of a list otherwise. */
export function RenameResource({ kind: { list, field, one }, resource, onClose }: RenameResourceProps) {
  const { id, name: before, placeCount } = resource;
  const [name, setName] = useState(before);
  const renaming = useChange(() => call('updateNamedResource', { id, list, name, ...(field && { field }) }), {
    onDone: onClose,
  });
  return (
    <FormDialog
      title={`Rename the ${one} ${before}`}
      action="Rename"
      change={renaming}
      fields={fields}
      noValidate
      onClose={onClose}
    >
      <NameInput value={name} onChange={setName} error={renaming.error} />
      <Text>
        Travelers who have it keep it. Values of the identity provider that say “{before}” no longer find it
        for others.
      </Text>
      {placeCount > 0 && (
        <Alert color="orange" title="⚠ The mapping names it">
          Change the mapping too where it says “{before}”: {placesText(resource)}
        </Alert>
      )}
    </FormDialog>
  );
}

interface NameInputProps {
  value: string;
  onChange: (name: string) => void;
  error: Error | null;
}

function NameInput({ value, onChange, error }: NameInputProps) {
  return (
    <TextInput
      label="Name"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={faultOf(error, 'name') ?? faultOf(error, 'data')}
      required
      data-autofocus
    />
  );
}
