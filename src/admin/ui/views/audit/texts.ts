import type { AuditEntry } from '../../api-client.ts';

type Facts = Pick<AuditEntry, 'action' | 'details'>;

/** Converts the name of an operation or of a detail to words, e.g. `createAccount` to `create account`. */
export function toWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The details of an entry as texts. Ids that are shown as links or have a name, and empty values, are left out. */
export function detailsOf({ action, details }: Facts): { name: string; text: string }[] {
  const isLinked = (name: string) => linkedNames(action, details).includes(name);
  const isNamed = (name: string) => name === 'id' && details['name'] !== undefined;
  return Object.entries(details)
    .filter(([name, value]) => !isLinked(name) && !isNamed(name) && value !== undefined && value !== null)
    .map(([name, value]) => ({ name, text: valueText(value) }));
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  return JSON.stringify(value);
}

/** A place of the page where the changed thing can be seen. */
interface PageLink {
  /** Below /admin. */
  href: string;
  label: string;
}

/** The changed people and mapping of an entry. */
export function linksOf({ action, details }: Facts): PageLink[] {
  const connection = textOf(details['connection']);
  if (connection === undefined) return [];
  if (/Mapping/.test(action)) return [{ href: '/mappings', label: `mapping of ${connection}` }];
  const names = linkedNames(action, details);
  const userName = textOf(details['userName']);
  return names.flatMap((name) =>
    [details[name]].flat().flatMap((id): PageLink[] => {
      const person = textOf(id);
      if (person === undefined) return [];
      const href = `/people/${encodeURIComponent(connection)}/${encodeURIComponent(person)}`;
      return [{ href, label: userName ?? person }];
    }),
  );
}

/** The details that are ids of people of the connection. */
function linkedNames(action: string, details: Facts['details']): string[] {
  if (textOf(details['connection']) === undefined || /Mapping/.test(action)) return [];
  return ['people', 'person', 'id'].filter((name) => details[name] !== undefined);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
