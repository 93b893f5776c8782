import { Autocomplete, TextInput } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from '../../components/creation-dialog.tsx';
import { labelsAt, type MappingNames } from './completion.ts';
import type { WrittenRule } from './rules.ts';

/** Asks what a new rule sets, reads and is for. Everything else is set in the form of the rule. */
export function AddRule({
  names,
  onAdd,
  onClose,
}: {
  names: MappingNames | undefined;
  onAdd: (rule: WrittenRule) => void;
  onClose: () => void;
}) {
  const [target, setTarget] = useState('');
  const [input, setInput] = useState('');
  const [when, setWhen] = useState('');
  const attributes = labelsAt('userAttribute', names);
  const add = () => {
    const isPreference = target.startsWith('travelerPrefs.');
    const member = isPreference || attributes.includes(target) ? 'userAttribute' : 'customField';
    const condition = when.trim() === '' ? {} : { when: when.trim() };
    onAdd({ scimAttribute: input.trim(), [member]: target.trim(), ...condition });
    onClose();
  };
  return (
    <FormDialog title="Add a rule" action="Add the rule" onSubmit={add} onClose={onClose}>
      <Autocomplete
        label="Sets"
        description="A field of the traveler, or a custom field by its name"
        data={[...new Set([...attributes, ...labelsAt('customField', names)])]}
        value={target}
        onChange={setTarget}
        required
        data-autofocus
      />
      <Autocomplete
        label="Reads"
        description="A SCIM path"
        data={labelsAt('scimAttribute', names)}
        limit={50}
        value={input}
        onChange={setInput}
        required
      />
      <TextInput
        label="When"
        description='For some people only: a SCIM filter, e.g. userType eq "Contractor"'
        value={when}
        onChange={(event) => setWhen(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
