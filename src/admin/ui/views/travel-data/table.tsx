import { DialogButton } from '../../components/dialogs.tsx';
import { useAddressFilter } from '../../components/filters.tsx';
import { useIsNarrow } from '../../components/narrow.ts';
import type { Column } from '../../components/rows.tsx';
import { Dim, Time, ViewLink } from '../../components/text.tsx';
import { SearchedRows } from '../../components/virtual-rows.tsx';
import { useIsAdmin } from '../../requests/session.ts';
import { type TravelResource, useTravelPages } from '../../requests/travel.ts';
import { type Description, fieldLabel, type Kind, listQuery, type Schema, titleOf } from './description.ts';
import { ResourceForm } from './form.tsx';
import { dayText } from './texts.ts';
import { isNoValue, useDescription, Value } from './values.tsx';
import { deliveryColumns } from './webhooks.tsx';

/** The pages that a search reads: the API has no search of its own. */
const SEARCHED_PAGES = 50;

/** A list of resources with a search. `path` is that of the list, which can belong to another resource. */
export function ResourceTable({ kind, path }: { kind: Kind; path: string }) {
  const { resolve } = useDescription();
  const isNarrow = useIsNarrow();
  const [{ search }, change] = useAddressFilter<{ search?: string }>(['search']);
  // A list below another resource can lack the order of the list of all.
  const isOwn = path.split('/').length === kind.path.split('/').length;
  const query = isOwn ? listQuery(kind, search) : { order: 'desc' };
  const list = useTravelPages(path, query, search ? { maxPages: SEARCHED_PAGES } : {});
  const canCreate = useIsAdmin() && kind.written && isOwn;
  const base = isOwn ? path : kind.path;
  const isBounded = list.data?.pages.length === SEARCHED_PAGES;
  return (
    <SearchedRows
      query={list}
      rowsOf={({ data }) => (search ? data.filter((one) => hasText(one, search.toLowerCase())) : data)}
      label={kind.label}
      searchLabel="Contains"
      columns={
        kind.type === 'webhookDelivery'
          ? deliveryColumns(path)
          : columnsOf(kind, { path: base, resolve, isNarrow })
      }
      search={search}
      onSearch={(text) => change({ search: text })}
      empty={`There is no ${kind.one} here yet.`}
      {...(search && isBounded && { note: 'Only the first 5,000 were searched.' })}
    >
      {canCreate && (
        <DialogButton label={`Create ${article(kind.one)} ${kind.one}`} variant="filled" ml="auto">
          {(close) => <ResourceForm kind={kind} path={path} onClose={close} />}
        </DialogButton>
      )}
    </SearchedRows>
  );
}

export function article(noun: string): 'a' | 'an' {
  return /^[aeio]/.test(noun) ? 'an' : 'a';
}

/** True if any value of the resource has the text, also its id. */
function hasText(value: unknown, text: string): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((member) => hasText(member, text));
  return String(value).toLowerCase().includes(text);
}

/** The columns of types whose first fields are not those that tell most. */
const chosen: Record<string, string[]> = {
  user: ['email', 'managerId', 'costCenterId'],
  tripProject: ['travelerIds', 'search.departureLocaleDateTime', 'approvalStatus', 'projectCodeId'],
  billingOperation: ['tripProjectId', 'transactionKind', 'status', 'amount'],
  invoice: ['description', 'billingProfileId', 'status', 'amount'],
  event: ['data'],
  webhook: ['description', 'events'],
};

const MAX_COLUMNS = 4;

function columnsOf(
  { type, schema }: Kind,
  { path, resolve, isNarrow }: { path: string; resolve: Description['resolve']; isNarrow: boolean },
): Column<TravelResource>[] {
  const { properties = {}, required = [] } = schema;
  const names =
    chosen[type] ??
    Object.keys(properties)
      .filter((name) => !hidden.includes(name) && isShort(resolve(properties[name] ?? {})))
      .sort((one, other) => Number(required.includes(other)) - Number(required.includes(one)))
      .slice(0, MAX_COLUMNS);
  return [
    {
      label: 'Name',
      width: '22%',
      cell: (resource) => (
        <>
          <ViewLink href={`${path}/${encodeURIComponent(resource.id)}`}>{titleOf(resource)}</ViewLink>
          {resource['archived'] === true && <Dim size="xs"> archived</Dim>}
          {resource['disabled'] === true && <Dim size="xs"> disabled</Dim>}
        </>
      ),
    },
    ...names.map((name) => ({
      label: fieldLabel(name.replace(/.*\./, '')),
      ...(name === 'email' && { width: '30%' }),
      // A card has the label in the same line.
      cell: (resource: TravelResource) => {
        const value = valueAt(resource, name);
        return isNoValue(value) ? null : (
          <Value value={value} schema={properties[name]} isInText={isNarrow} />
        );
      },
    })),
    {
      label: 'Created',
      width: '14%',
      cell: ({ createdAt }) => <Time at={createdAt} format={dayText} />,
    },
  ];
}

/** Returns a member of a resource, or of an object in it. */
function valueAt(resource: TravelResource, path: string): unknown {
  return path.split('.').reduce((value: unknown, name) => Object(value)[name], resource);
}

/** In the first column, or about nothing that a reader of the list looks for. */
const hidden = ['id', 'type', 'createdAt', 'name', 'code', 'url', 'archived', 'disabled', 'reference'];

function isShort({ type, format, properties }: Schema): boolean {
  return properties ? 'total' in properties : type !== 'array' && format !== 'uri';
}
