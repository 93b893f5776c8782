import { Autocomplete, SegmentedControl, TextInput } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from '../../components/dialogs.tsx';
import { useRead } from '../../queries.ts';
import { labelsAt, type MappingNames, valuesAt } from './completion.ts';
import type { WrittenRule } from './rules.ts';

/** What a new rule gives: the value of an attribute, or a text. */
const inputs = { scimAttribute: 'What an attribute has', template: 'A fixed value' };
type InputMember = keyof typeof inputs;

interface AddRuleProps {
  connection: string;
  names: MappingNames | undefined;
  onAdd: (rule: WrittenRule) => void;
  onClose: () => void;
}

/** Asks what a new rule sets, what it gives, and for whom. Everything else is set in the form of the rule. */
export function AddRule({ connection, names, onAdd, onClose }: AddRuleProps) {
  const [target, setTarget] = useState('');
  const [member, setMember] = useState<InputMember>('scimAttribute');
  const [input, setInput] = useState('');
  const [group, setGroup] = useState('');
  const [when, setWhen] = useState('');
  const groups = useRead('findGroupNames', { connection, beginning: group.trim() });
  const attributes = labelsAt('userAttribute', names);
  const isField = target.startsWith('travelerPrefs.') || attributes.includes(target);
  const set = { [isField ? 'userAttribute' : 'customField']: target.trim() };
  const add = () => {
    const condition = toCondition(group.trim(), when.trim());
    onAdd({ [member]: input.trim(), ...set, ...(condition === undefined ? {} : { when: condition }) });
    onClose();
  };
  const field = { value: input, onChange: setInput, limit: 50, required: true };
  return (
    <FormDialog title="Add a rule" action="Add the rule" change={{ mutate: add }} onClose={onClose}>
      <Autocomplete
        label="Sets"
        description="A field of the traveler, or a custom field by its name"
        data={[...new Set([...attributes, ...labelsAt('customField', names)])]}
        value={target}
        onChange={setTarget}
        required
        data-autofocus
      />
      <SegmentedControl
        aria-label="To"
        data={Object.entries(inputs).map(([value, label]) => ({ value, label }))}
        value={member}
        onChange={(value) => setMember(value as InputMember)} // The values are those of the data.
      />
      {member === 'scimAttribute' ? (
        <Autocomplete {...field} label="Reads" description="A SCIM path" data={labelsAt(member, names)} />
      ) : (
        <Autocomplete
          {...field}
          label="Gives"
          description="A text; attributes in braces are replaced, e.g. {title}"
          data={valuesAt(['scimUserMapping', 0, 'template'], names, set).map(({ label }) => label)}
        />
      )}
      <Autocomplete
        label="Members of"
        description="For the members of one group only: its name, as the identity provider has sent it"
        data={groups.data?.names ?? []}
        value={group}
        onChange={setGroup}
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

/** The condition for the members of a group for whom a filter holds; undefined without both. */
function toCondition(group: string, when: string): string | undefined {
  const membership = group === '' ? [] : [`groups[display eq ${JSON.stringify(group)}]`];
  const filter = when === '' ? [] : [group === '' ? when : `(${when})`];
  const parts = [...membership, ...filter];
  return parts.length > 0 ? parts.join(' and ') : undefined;
}
