import { Alert, SegmentedControl, Text } from '@mantine/core';
import { useLocation } from 'wouter';
import type { NamedResource, ResourceList } from '../../../../operations/travel/lists.ts';
import { useAddressFilter } from '../../components/filters.tsx';
import type { Column } from '../../components/rows.tsx';
import { Dim, Time, ViewLink } from '../../components/text.tsx';
import { SearchedRows } from '../../components/virtual-rows.tsx';
import { usePages, useRead } from '../../requests/queries.ts';

const labels: Partial<Record<string, string>> = {
  costCenters: 'Cost centers',
  billingProfiles: 'Billing profiles',
  travelPolicies: 'Travel policies',
  customFields: 'Custom fields',
};

/** What the rules of a connection can name in a travel service that is elsewhere, as the bridge knows it. `place` is a list, or a custom field. */
export function Lists({ connection, url, place }: { connection: string; url: string; place: string }) {
  const [, navigate] = useLocation();
  const [{ search }, change] = useAddressFilter<{ search?: string }>(['search']);
  const [part = '', field] = place.split('/');
  const chosen = part in labels ? part : 'costCenters';
  const list = (field ? 'customFieldOptions' : chosen) as ResourceList;
  const input = { connection, list, limit: 200, ...(field && { field }), ...(search && { search }) };
  const pages = usePages('listNamedResources', input, { refetchOnWindowFocus: false });
  const [first] = pages.data?.pages ?? [];
  const at = (path: string) => `/lists/${connection}/${path}`;
  const label = field ? 'Options' : (labels[list] ?? list);
  return (
    <>
      <SegmentedControl
        size="xs"
        mb="sm"
        aria-label="List"
        data={Object.entries(labels).map(([value, text = value]) => ({ value, label: text }))}
        value={chosen}
        onChange={(path) => navigate(at(path))}
      />
      {first?.isStale && (
        <Alert color="orange" mb="sm" title="⚠ This list can no longer be read from the travel service">
          It is shown, and used, as it was read last. The log says why.
        </Alert>
      )}
      <Text c="dimmed" mb="xs" style={{ overflowWrap: 'anywhere' }}>
        Read from the travel service <Time at={first?.readAt} none="some time ago" />. It is at {url}, and is
        changed there; a change appears here within a minute.
      </Text>
      <SearchedRows
        query={pages}
        rowsOf={({ resources }) => resources}
        label={label}
        columns={columnsOf(connection, list, at)}
        search={search}
        onSearch={(text) => change({ search: text })}
        empty={`The travel service has no ${label.toLowerCase()} yet.`}
      />
    </>
  );
}

function columnsOf(
  connection: string,
  list: ResourceList,
  at: (path: string) => string,
): Column<NamedResource>[] {
  return [
    {
      label: 'Name',
      width: '34%',
      cell: ({ id, name, options, isArchived }) => (
        <>
          {options ? <ViewLink href={at(`customFields/${encodeURIComponent(id)}`)}>{name}</ViewLink> : name}
          {isArchived && <Dim size="xs"> {list.startsWith('custom') ? 'disabled' : 'archived'}</Dim>}
        </>
      ),
    },
    ...(list === 'customFields'
      ? [
          { label: 'Type', width: '10%', cell: ({ dataType }: NamedResource) => dataType },
          { label: 'Options', width: '10%', cell: ({ options }: NamedResource) => options },
        ]
      : []),
    {
      label: 'Named by the mapping',
      cell: (resource) => resource.placeCount > 0 && <PlaceLinks connection={connection} {...resource} />,
    },
  ];
}

/** The places of a mapping that name a resource. */
function PlaceLinks({
  connection,
  places,
  placeCount,
}: Pick<NamedResource, 'places' | 'placeCount'> & { connection: string }) {
  const more = placeCount > places.length ? `, ${placeCount - places.length} more` : '';
  return (
    <ViewLink href={`~/admin/mappings?connection=${encodeURIComponent(connection)}`}>
      {places.join(', ')}
      {more}
    </ViewLink>
  );
}

/** The places of the mapping of a connection that name a resource of the embedded service. */
export function Places({
  id,
  name,
  ...query
}: {
  connection: string;
  list: ResourceList;
  field?: string;
  id: string;
  name: string;
}) {
  const named = useRead('listNamedResources', { ...query, search: name, limit: 200 });
  const found = named.data?.resources.find((one) => one.id === id);
  return found && found.placeCount > 0 ? (
    <PlaceLinks connection={query.connection} {...found} />
  ) : (
    <Dim>–</Dim>
  );
}
