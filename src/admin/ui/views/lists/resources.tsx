import { Alert, Group, Text } from '@mantine/core';
import type { NamedResource } from '../../../../operations/travel/lists.ts';
import { ConfirmButton, DialogButton } from '../../components/dialogs.tsx';
import { useAddressFilter } from '../../components/filters.tsx';
import type { Column } from '../../components/rows.tsx';
import { Dim, StateBadge, Time, ViewLink } from '../../components/text.tsx';
import { SearchedRows } from '../../components/virtual-rows.tsx';
import { call, type Result } from '../../requests/api.ts';
import { usePages, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { PartHead } from '../travel/resource.tsx';
import { CreateResource, RenameResource } from './resource-forms.tsx';
import { optionKind, placesText, type ResourceKind } from './texts.ts';

interface ResourcesProps {
  connection: string;
  travelApi: string;
  kind: ResourceKind;
  /** The custom field whose options are listed. */
  field: string | undefined;
}

/** A list of the travel service, or the options of one of its custom fields. */
export function Resources({ kind, field, ...props }: ResourcesProps) {
  if (field === undefined || kind.list !== 'customFields')
    return <ResourceList {...props} kind={kind} field={undefined} />;
  return <Options {...props} field={field} />;
}

function Options({ connection, field, ...props }: Omit<ResourcesProps, 'kind'> & { field: string }) {
  const fields = useRead('listNamedResources', { connection, list: 'customFields', limit: 200 });
  const name = fields.data?.resources.find(({ id }) => id === field)?.name;
  return (
    <>
      <PartHead list={`/${connection}/custom-fields`} label="Custom fields">
        Options of {name ?? field}
      </PartHead>
      <ResourceList {...props} connection={connection} kind={optionKind} field={field} />
    </>
  );
}

function ResourceList({ connection, travelApi, kind, field }: ResourcesProps) {
  const [{ search }, change] = useAddressFilter<{ search?: string }>(['search']);
  const query = {
    connection,
    list: kind.list,
    limit: 200,
    ...(field && { field }),
    ...(search && { search }),
  };
  const list = usePages('listNamedResources', query, { refetchOnWindowFocus: false });
  const isEmbedded = travelApi === 'embedded';
  const canChange = useIsAdmin() && isEmbedded;
  const at = { ...kind, field };
  return (
    <>
      <Source page={list.data?.pages[0]} travelApi={travelApi} one={kind.one} />
      <SearchedRows
        query={list}
        rowsOf={(page) => page.resources}
        label={kind.label}
        columns={columnsOf(connection, at, canChange)}
        search={search}
        onSearch={(text) => change({ search: text })}
        empty={`The travel service has no ${kind.one} yet.`}
      >
        {canChange && (
          <DialogButton label={`Create ${article(kind.one)} ${kind.one}`} variant="filled" ml="auto">
            {(close) => <CreateResource kind={at} onClose={close} />}
          </DialogButton>
        )}
      </SearchedRows>
    </>
  );
}

function article(noun: string): 'a' | 'an' {
  return /^[aeiou]/.test(noun) ? 'an' : 'a';
}

interface SourceProps {
  page: Result<'listNamedResources'> | undefined;
  travelApi: string;
  one: string;
}

/** Says where the list comes from, how old it is, and where it is changed. */
function Source({ page, travelApi, one }: SourceProps) {
  if (!page) return null;
  const { readAt, isStale } = page;
  const age = <Time at={readAt} none="some time ago" />;
  return (
    <>
      {isStale && (
        <Alert color="orange" mb="sm" title="⚠ This list can no longer be read from the travel service">
          It is shown, and used, as it was read last: {age}. The log says why.
        </Alert>
      )}
      <Text c="dimmed" mb="xs" style={{ overflowWrap: 'anywhere' }}>
        Read from the travel service {age}.{' '}
        {travelApi !== 'embedded' &&
          `It is at ${travelApi}, so ${article(one)} ${one} is created, renamed and archived there; the change appears here within a minute.`}
      </Text>
    </>
  );
}

/** A list, and the custom field whose options it has. */
export type ListPlace = ResourceKind & { field: string | undefined };

function columnsOf(connection: string, kind: ListPlace, canChange: boolean): Column<NamedResource>[] {
  const isOfFields = kind.list === 'customFields';
  return [
    { label: 'Name', width: isOfFields ? '24%' : '34%', cell: (resource) => nameCell(connection, resource) },
    ...(isOfFields ? fieldColumns : []),
    ...(kind.archived ? [stateColumn(kind.archived)] : []),
    { label: 'Named by the mapping', cell: (resource) => placesCell(connection, resource) },
    ...(canChange ? [changeColumn(kind)] : []),
  ];
}

/** A custom field that is no text leads to its options. */
function nameCell(connection: string, { id, name, dataType }: NamedResource) {
  if (dataType === undefined || dataType === 'text') return name;
  return <ViewLink href={`/${connection}/custom-fields/${encodeURIComponent(id)}`}>{name}</ViewLink>;
}

const fieldColumns: Column<NamedResource>[] = [
  { label: 'Type', width: '10%', cell: ({ dataType }) => dataType },
  { label: 'Options', width: '8%', cell: ({ options }) => options || '–' },
];

function stateColumn(archived: string): Column<NamedResource> {
  const inactive = { symbol: '–', label: archived, color: 'gray' };
  return {
    label: 'State',
    width: '13%',
    cell: ({ isArchived }) => <StateBadge mark={isArchived ? inactive : active} />,
  };
}

function placesCell(connection: string, resource: NamedResource) {
  const text = placesText(resource);
  if (text === '') return <Dim>–</Dim>;
  return (
    <ViewLink href={`~/admin/mappings?connection=${encodeURIComponent(connection)}`} title={text}>
      {text}
    </ViewLink>
  );
}

const active = { symbol: '✓', label: 'active', color: 'green' };

function changeColumn(kind: ListPlace): Column<NamedResource> {
  return {
    label: 'Action',
    width: '18%',
    cell: (resource) => (
      <Group gap={4} wrap="nowrap" component="span">
        <DialogButton label="Rename…" name={`Rename ${resource.name}`} size="compact-xs">
          {(close) => <RenameResource kind={kind} resource={resource} onClose={close} />}
        </DialogButton>
        {kind.archived && <ArchiveButton kind={kind} resource={resource} />}
      </Group>
    ),
  };
}

const words = {
  archived: { archive: 'Archive', restore: 'Restore' },
  disabled: { archive: 'Disable', restore: 'Enable' },
};

function ArchiveButton({
  kind: { list, field, one, archived = 'archived' },
  resource,
}: {
  kind: ListPlace;
  resource: NamedResource;
}) {
  const { id, name, isArchived } = resource;
  const verb = words[archived][isArchived ? 'restore' : 'archive'];
  return (
    <ConfirmButton
      label={`${verb}…`}
      name={`${verb} ${name}`}
      button={{ size: 'compact-xs' }}
      title={`${verb} the ${one} ${name}?`}
      action={`${verb} ${name}`}
      change={() =>
        call('updateNamedResource', { id, list, isArchived: !isArchived, ...(field && { field }) })
      }
      isDestructive={!isArchived}
    >
      <Text size="md">
        {isArchived
          ? 'It is found again: people whose values name it get it.'
          : `Travelers who have it keep it, but nobody gets it any more: a value of the identity provider that gives its name becomes a finding. It can be ${archived === 'archived' ? 'restored' : 'enabled again'}.`}
      </Text>
      {!isArchived && resource.placeCount > 0 && (
        <Alert color="orange" title="⚠ The mapping names it">
          {placesText(resource)}
        </Alert>
      )}
    </ConfirmButton>
  );
}
