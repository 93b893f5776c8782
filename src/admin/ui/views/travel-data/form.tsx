import {
  type InputWrapperProps,
  MultiSelect,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { Dialog, FormDialog, Secret } from '../../components/dialogs.tsx';
import { isObject } from '../../components/texts.ts';
import { faultOf } from '../../requests/api.ts';
import { useChange } from '../../requests/queries.ts';
import { callTravel, type TravelResource, useTravelPages } from '../../requests/travel.ts';
import { fieldLabel, type Kind, listQuery, type Schema, titleOf } from './description.ts';
import { mergePatchOf, withoutEmpty } from './merge-patch.ts';
import { article } from './table.tsx';
import { useDescription } from './values.tsx';

interface ResourceFormProps {
  kind: Kind;
  /** The path of the list for a new resource, else that of the resource. */
  path: string;
  /** Without it, a resource is created. */
  before?: TravelResource;
  onClose: () => void;
}

/** Creates a resource, or changes one, by the fields that the API describes. The API checks the values. */
export function ResourceForm({ kind, path, before, onClose }: ResourceFormProps) {
  const { resolve } = useDescription();
  const [, navigate] = useLocation();
  const schema = kind.written ?? {};
  const names = Object.keys(schema.properties ?? {}).filter(
    (name) => !['archived', 'disabled'].includes(name),
  );
  const [typed, setTyped] = useState<Record<string, unknown>>(() =>
    Object.fromEntries(names.map((name) => [name, before?.[name]])),
  );
  const saving = useChange(
    () => {
      const wanted = Object(withoutEmpty(typed, schema, resolve));
      if (!before) return callTravel('POST', path, wanted);
      const known = Object.fromEntries(names.map((name) => [name, before[name]]));
      return callTravel('PATCH', path, mergePatchOf(known, wanted));
    },
    {
      onDone: (made) => {
        // A secret is shown once, before the dialog closes.
        if (typeof made['secret'] === 'string') return;
        if (!before) navigate(`${path}/${made.id}`);
        onClose();
      },
    },
  );
  const secret = before ? undefined : saving.data?.['secret'];
  if (typeof secret === 'string')
    return (
      <Dialog onClose={onClose} title={`The ${kind.one} is created`}>
        <Secret value={secret} onDone={onClose}>
          Each request is signed with this secret (Standard Webhooks). It is shown only now: give it to the
          integration.
        </Secret>
      </Dialog>
    );
  return (
    <FormDialog
      title={before ? `Edit the ${kind.one} ${titleOf(before)}` : `Create ${article(kind.one)} ${kind.one}`}
      action={before ? `Save the ${kind.one}` : `Create the ${kind.one}`}
      size="lg"
      noValidate
      change={saving}
      fields={names}
      onClose={onClose}
    >
      <Inputs {...{ schema, names }} value={typed} onChange={setTyped} path="" error={saving.error} />
    </FormDialog>
  );
}

interface InputsProps {
  schema: Schema;
  names: string[];
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
  /** The place of the object in the resource, with a dot at the end. */
  path: string;
  error: Error | null;
}

/** The fields of an object: required ones first, and those that have fields of their own last. */
function Inputs({ schema, names, value, onChange, path, error }: InputsProps) {
  const { resolve } = useDescription();
  const { required = [], properties = {} } = schema;
  const isRequired = (name: string) => required.includes(name);
  const rank = (name: string) =>
    resolve(properties[name] ?? {}).type === 'object' ? 2 : isRequired(name) ? 0 : 1;
  return names
    .toSorted((one, other) => rank(one) - rank(other))
    .map((name) => (
      <Input
        key={name}
        name={name}
        schema={properties[name] ?? {}}
        isRequired={isRequired(name)}
        value={value[name]}
        onChange={(changed) => onChange({ ...value, [name]: changed })}
        path={`${path}${name}`}
        error={error}
      />
    ));
}

interface InputProps {
  name: string;
  schema: Schema;
  isRequired: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  path: string;
  error: Error | null;
}

/** The field of one member, by its schema. */
function Input({ name, schema: given, isRequired, value, onChange, path, error }: InputProps) {
  const schema = useDescription().resolve(given);
  const refers = schema['x-resource'];
  const common = {
    label: fieldLabel(name),
    description: refers ? undefined : schema.description,
    error: faultOf(error, path),
    required: isRequired,
  };
  const text = typeof value === 'string' ? value : '';
  const list = Array.isArray(value) ? value.map(String) : [];
  if (refers) return <ReferenceInput {...common} type={refers} value={text} onChange={onChange} />;
  if (schema.enum)
    return (
      <Select
        {...common}
        data={schema.enum}
        value={text || null}
        onChange={onChange}
        clearable={!isRequired}
      />
    );
  if (schema.type === 'boolean')
    return (
      <Switch
        label={common.label}
        error={common.error}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  if (schema.type === 'number' || schema.type === 'integer')
    return (
      <NumberInput
        {...common}
        value={typeof value === 'number' ? value : ''}
        onChange={(typed) => onChange(typed === '' ? undefined : typed)}
      />
    );
  if (schema.items?.enum)
    return (
      <MultiSelect
        {...common}
        data={schema.items.enum}
        value={list}
        onChange={onChange}
        searchable
        clearable
      />
    );
  if (schema.items?.type === 'string') return <TagsInput {...common} value={list} onChange={onChange} />;
  if (schema.properties && schema.additionalProperties === false)
    return (
      <details open={value !== undefined || common.error !== undefined}>
        <Text component="summary" fw={500} style={{ cursor: 'pointer' }}>
          {common.label}
        </Text>
        <Stack gap="xs" pl="md" pt="xs">
          <Inputs
            {...{ schema, onChange, error }}
            names={Object.keys(schema.properties)}
            value={isObject(value) ? value : {}}
            path={`${path}.`}
          />
        </Stack>
      </details>
    );
  if (schema.type !== 'string') return <JsonInput {...common} value={value} onChange={onChange} />;
  return (
    <TextInput
      {...common}
      type={schema.format === 'date' ? 'date' : 'text'}
      value={text}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

type CommonProps = Pick<InputWrapperProps, 'label' | 'description' | 'error' | 'required'>;

/** The most pages of resources among which one is chosen. */
const CHOICE_PAGES = 20;

/** Chooses a resource by its name. All of its type are read once the field has the focus. */
function ReferenceInput({
  type,
  value,
  onChange,
  ...common
}: CommonProps & { type: string; value: string; onChange: (id: string | undefined) => void }) {
  const kind = useDescription().kinds.get(type);
  const [isOpen, setOpen] = useState(value !== '');
  const list = useTravelPages(kind?.path ?? '', kind ? listQuery(kind) : {}, {
    maxPages: CHOICE_PAGES,
    enabled: kind !== undefined && isOpen,
  });
  if (list.hasNextPage && !list.isFetchingNextPage && !list.isError) void list.fetchNextPage();
  const found = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const known = new Map(found.map((one) => [one.id, titleOf(one)]));
  if (value && !known.has(value)) known.set(value, value);
  return (
    <Select
      {...common}
      data={[...known].map(([id, label]) => ({ value: id, label }))}
      value={value || null}
      onChange={(id) => onChange(id ?? undefined)}
      onFocus={() => setOpen(true)}
      limit={100}
      searchable
      clearable
    />
  );
}

/** A value for which there is no better field. What is no JSON is sent as a text, which the API refuses. */
function JsonInput({
  value,
  onChange,
  ...common
}: CommonProps & { value: unknown; onChange: (value: unknown) => void }) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  return (
    <Textarea
      {...common}
      description={common.description ?? 'In JSON'}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        onChange(parse(currentTarget.value));
      }}
      autosize
      minRows={2}
      maxRows={12}
    />
  );
}

function parse(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
