import type { ListedAuditEntry } from '../../../../operations/settings/audit.ts';

type Facts = Pick<ListedAuditEntry, 'action' | 'details' | 'people'>;

/** The details of an entry as texts. Ids that are shown as links or have a name are left out. */
export function detailsOf({ action, details, people }: Facts): { name: string; text: string }[] {
  const isLinked = (name: string) =>
    name === 'decision' ||
    (people.length > 0 && ['people', 'person', 'id', 'userName'].includes(name)) ||
    (action === 'changeTravelData' && ['path', 'id'].includes(name));
  const isNamed = (name: string) => name === 'id' && details['name'] !== undefined;
  return Object.entries(details)
    .filter(([name]) => !isLinked(name) && !isNamed(name))
    .map(([name, value]) => ({ name, text: valueText(value) }));
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  return JSON.stringify(value);
}

/** A place of the page where the changed thing can be seen. */
interface PageLink {
  /** Below /admin. */
  href: string;
  label: string;
}

/** The changed people, mapping or connection of an entry, or the list of the people of a decision. People who are gone are shown by the userName that they had, or by their id. */
export function linksOf({ action, details, people }: Facts): PageLink[] {
  if (action === 'changeTravelData') return [travelLink(details)];
  const connection = textOf(details['connection']);
  if (connection === undefined) return [];
  if (/Mapping/.test(action)) return [mappingLink(connection, details)];
  if (people.length === 0) return decisionLinks(connection, details) ?? connectionLinks(connection, action);
  const userName = people.length === 1 ? textOf(details['userName']) : undefined;
  return people.map(({ id, name }) => ({
    href: `/people/${encodeURIComponent(connection)}/${encodeURIComponent(id)}`,
    label: name ?? userName ?? id,
  }));
}

/** A mapping that came into force leads to the difference between it and the one before. */
function mappingLink(connection: string, { version }: Facts['details']): PageLink {
  const mapping = `/mappings?connection=${encodeURIComponent(connection)}`;
  return typeof version === 'number'
    ? { href: `${mapping}&version=${version}`, label: `the change of version ${version}` }
    : { href: mapping, label: `mapping of ${connection}` };
}

/** A changed resource of the travel service, or its list if it was not made. */
function travelLink({ path, id }: Facts['details']): PageLink {
  const at = String(path).replace(/\/(?:test|secret|redeliver)$/, '');
  const place = typeof id === 'string' && !at.includes(id) ? `${at}/${id}` : at;
  return { href: `/travel-data${place}`, label: place.slice(1) };
}

/** A decision about more people than the entry names leads to their list. */
function decisionLinks(connection: string, details: Facts['details']): PageLink[] | undefined {
  const { decision, decided } = details;
  const place = encodeURIComponent(connection);
  if (typeof decision === 'number')
    return [
      {
        href: `/decisions/made/${place}/${decision}`,
        label: decided === 1 ? 'the person' : `the ${decided} people`,
      },
    ];
  return undefined;
}

function connectionLinks(connection: string, action: string): PageLink[] {
  // There is no connection to look at any more.
  if (action === 'removeConnection') return [];
  return [
    { href: `/connect/connections/${encodeURIComponent(connection)}`, label: `connection ${connection}` },
  ];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
