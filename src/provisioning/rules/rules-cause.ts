import { isDeepStrictEqual } from 'node:util';
import type { FollowedRules, MappingVersion } from '../../store/queues/rules-in-force.ts';
import type { Lookups } from '../../translator/translation.ts';
import { canonicalJson } from '../../translator/values/values.ts';

/** The number of entries of a list that a text names. */
const MAX_NAMED = 5;

/** The rules in force, and what they are compared with. */
interface ComparedRules {
  /** The rules that people followed last; undefined if that is not known. */
  followed: FollowedRules | undefined;
  generation: number;
  lookups: Lookups;
  /** The history of the mapping, the newest first. */
  versions: MappingVersion[];
}

/** Says by name what a change of rules consists of: mappings with their admins, and lists with the entries that came or went. */
export function describeCauses({ followed, generation, lookups, versions }: ComparedRules): string[] {
  const since = followed?.generation ?? generation - 1;
  const mappings = versions.filter((version) => version.generation > since).reverse();
  const before = versions.find((version) => version.generation <= since);
  const texts = mappings.map((version, index) => mappingText(version, mappings[index - 1] ?? before));
  if (followed) return [...texts, ...listTexts(followed.lookups, lookups)];
  return texts.length > 0 ? texts : ['other lookups of the travel service, such as cost centers'];
}

function mappingText(version: MappingVersion, before: MappingVersion | undefined): string {
  const { number, source, author, mapping, edition } = version;
  if (before && before.edition !== edition && isDeepStrictEqual(before.mapping, mapping))
    return 'another version of Jetbridge, which translates otherwise';
  if (source === 'default') return `the default mapping (version ${number})`;
  const by = source === 'file' ? 'from the mapping file' : `by ${author ?? 'an admin'}`;
  return `mapping version ${number} ${by}`;
}

/** An entry of a list: its name, and its content. */
interface Entry {
  name: string;
  content: string;
}

function listTexts(before: Lookups, after: Lookups): string[] {
  const lists = (lookups: Lookups) => ({
    'cost centers': entriesOf(lookups.costCenters.filter(({ archived }) => !archived)),
    'billing profiles': entriesOf(lookups.billingProfiles.filter(({ archived }) => !archived)),
    'travel policies': entriesOf(lookups.travelPolicies.filter(({ archived }) => !archived)),
    'custom fields': entriesOf(lookups.customFields.filter(({ disabled }) => !disabled)),
    'rules of scimUserMapping': entriesOf(
      lookups.scimUserMappings.map((row) => ({ ...row, id: canonicalJson(row), name: row.scimAttribute })),
    ),
  });
  const [old, now] = [Object.entries(lists(before)), new Map(Object.entries(lists(after)))];
  return old.flatMap(([list, entries]) => listText(list, entries, now.get(list) ?? new Map()));
}

function entriesOf(items: { id: string; name: string }[]): Map<string, Entry> {
  return new Map(items.map((item) => [item.id, { name: item.name, content: canonicalJson(item) }]));
}

function listText(list: string, before: Map<string, Entry>, after: Map<string, Entry>): string[] {
  const missingIn = (some: Map<string, Entry>, others: Map<string, Entry>) =>
    [...some].flatMap(([id, { name }]) => (others.has(id) ? [] : [name]));
  const changed = [...before].flatMap(([id, { name, content }]) => {
    const now = after.get(id);
    if (!now || now.content === content) return [];
    return now.name === name ? [name] : [`${name} (now ${now.name})`];
  });
  const parts = [
    entriesText(missingIn(before, after), 'gone'),
    entriesText(missingIn(after, before), 'new'),
    entriesText(changed, 'changed'),
  ].filter((text) => text !== '');
  return parts.length > 0 ? [`${list}: ${parts.join('; ')}`] : [];
}

function entriesText(names: string[], what: string): string {
  if (names.length === 0) return '';
  const others = names.length - MAX_NAMED;
  const shown = [...names.slice(0, MAX_NAMED), ...(others > 0 ? [`${others} more`] : [])].join(', ');
  return `${shown} ${names.length === 1 ? 'is' : 'are'} ${what}`;
}
