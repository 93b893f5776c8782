import { Group, SegmentedControl, Select, Stack, Text, Textarea, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Person } from '../../../contract/people.ts';
import { call } from '../../api.ts';
import { Failure, LoadingView } from '../../components/loading.tsx';
import { ViewLink } from '../../components/text.tsx';
import { parseObject } from '../../components/texts.ts';
import { useRead } from '../../queries.ts';
import { PersonResult } from './person-result.tsx';

interface PanelProps {
  connection: string;
  /** The mapping that is edited. */
  text: string;
  /** The id of the person. */
  person: string | undefined;
  /** True if no identity provider has sent a person yet. */
  isUnsent: boolean;
  onPerson: (id: string) => void;
}

/** An example person, translated with the mapping while it is edited. */
export function PersonPanel({ connection, text, person, isUnsent, onPerson }: PanelProps) {
  const [mode, setMode] = useState('stored');
  const [pasted, setPasted] = useState('');
  const [shown] = useDebouncedValue(text, 250);
  const [typed] = useDebouncedValue(pasted, 250);
  const user = mode === 'pasted' ? parseUser(typed) : undefined;
  const subject = mode === 'pasted' ? user : person && { person };
  const preview = useRead(
    'previewPerson',
    { connection, text: shown, ...Object(subject) },
    { enabled: Boolean(subject), placeholderData: keepPreviousData, gcTime: 30_000 },
  );
  return (
    <Stack gap="sm" component="section" aria-label="Example person">
      <Group justify="space-between">
        <Title order={2} size="h5">
          Example person
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="Where the person comes from"
          value={mode}
          onChange={setMode}
          data={[
            { value: 'stored', label: 'A person' },
            { value: 'pasted', label: 'Paste a user' },
          ]}
        />
      </Group>
      {mode === 'stored' ? (
        <PersonSelect {...{ connection, person, isUnsent, onPerson }} />
      ) : (
        <Textarea
          aria-label="SCIM user as JSON"
          placeholder='{"userName": "ada@corp.example", "name": {"givenName": "Ada"}}'
          description="A SCIM user as the identity provider sends it. It is not stored."
          autosize
          minRows={4}
          maxRows={14}
          ff="monospace"
          value={pasted}
          onChange={(event) => setPasted(event.currentTarget.value)}
          error={typed !== '' && !user ? 'This is not a JSON object.' : undefined}
        />
      )}
      {subject && <Failure error={preview.error} title="No result" />}
      {subject && preview.isLoading && <LoadingView />}
      {subject && preview.data && (
        <PersonResult result={preview.data} isStale={preview.isPlaceholderData || Boolean(preview.error)} />
      )}
    </Stack>
  );
}

function parseUser(text: string): { user: Record<string, never> } | undefined {
  const user = parseObject(text);
  return user && { user: user as Record<string, never> }; // The service checks its members.
}

function PersonSelect({ connection, person, isUnsent, onPerson }: Omit<PanelProps, 'text'>) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), 250);
  const found = useQuery({
    queryKey: ['mapping-people', connection, search],
    queryFn: () => findPeople(connection, search),
    placeholderData: keepPreviousData,
  });
  const chosen = useRead(
    'explainPerson',
    { connection, id: person ?? '' },
    { enabled: person !== undefined },
  );
  const options = new Map((found.data ?? []).map(({ id, name, userName }) => [id, labelOf(name, userName)]));
  if (person !== undefined && chosen.data)
    options.set(person, labelOf(chosen.data.name, chosen.data.userName));
  if (found.data?.length === 0 && search === '' && person === undefined)
    return (
      <Text c="dimmed">
        No person has been provisioned yet. Paste a SCIM user, or{' '}
        <ViewLink href="~/admin/connect" isInText>
          connect an identity provider
        </ViewLink>
        .
      </Text>
    );
  return (
    <>
      <Select
        aria-label="Person"
        placeholder="Search by name or email address"
        searchable
        data={[...options].map(([value, label]) => ({ value, label }))}
        value={person ?? null}
        onChange={(id) => id && onPerson(id)}
        onSearchChange={setTyped}
        filter={({ options: all }) => all}
        nothingFoundMessage="Nobody is found."
      />
      {isUnsent && person === undefined && (
        <Text c="dimmed">
          No identity provider has sent a person to this connection yet. Choose one who was imported from the
          travel service, or paste a SCIM user.
        </Text>
      )}
    </>
  );
}

/** The people of a connection who match a text; without a text, or while it is that of the choice, the first ones. */
async function findPeople(connection: string, search: string): Promise<Person[]> {
  const text = search.replace(/^.*\((.*)\)$/, '$1');
  if (text === '') return (await call('listPeople', { connection, limit: 10 })).people;
  const { people } = await call('findPeople', { text });
  return people.filter((one) => one.connection === connection);
}

function labelOf(name: string, userName: string): string {
  return name === '' ? userName : `${name} (${userName})`;
}

/** The person to begin with. It stays the same while a mapping is edited. */
export function useExamplePerson(connection: string): { example: string | undefined; isUnsent: boolean } {
  const { data } = useRead('findExamplePerson', { connection }, { staleTime: Number.POSITIVE_INFINITY });
  return { example: data?.id, isUnsent: data !== undefined && data.id === undefined };
}
