import type { GroupRule, NamedResource, ResourceList } from '../../../../operations/travel/lists.ts';
import { fieldName } from '../../../../provisioning/people/person-texts.ts';
import { withShortUrns } from '../../components/texts.ts';

/** A list of the travel service, as the page names it. */
export interface ResourceKind {
  list: ResourceList;
  /** The last part of the address. */
  path: string;
  label: string;
  /** One of them, e.g. `cost center`. */
  one: string;
  /** The word for one that is no longer given; undefined if there is none. */
  archived?: 'archived' | 'disabled';
}

/** The lists in the order of their tabs. */
export const resourceKinds: ResourceKind[] = [
  {
    ...{ list: 'costCenters', path: 'cost-centers', label: 'Cost centers', one: 'cost center' },
    archived: 'archived',
  },
  {
    ...{
      list: 'billingProfiles',
      path: 'billing-profiles',
      label: 'Billing profiles',
      one: 'billing profile',
    },
    archived: 'archived',
  },
  { list: 'travelPolicies', path: 'travel-policies', label: 'Travel policies', one: 'travel policy' },
  {
    ...{ list: 'customFields', path: 'custom-fields', label: 'Custom fields', one: 'custom field' },
    archived: 'disabled',
  },
];

/** The options of a custom field. They are below the address of the custom fields. */
export const optionKind: ResourceKind = {
  ...{ list: 'customFieldOptions', path: 'custom-fields', label: 'Options', one: 'option' },
  archived: 'disabled',
};

/** Returns the list of an address; undefined for the groups. */
export function kindOfPath(part: string): ResourceKind | undefined {
  return resourceKinds.find(({ path }) => path === part);
}

/** Returns the places of the mapping that name a resource. */
export function placesText({ places, placeCount }: NamedResource): string {
  const more = placeCount - places.length;
  return [...places, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Returns what a rule sets: the name of its field, or that it is the scope. */
export function ruleTarget({ field, fieldName: name }: GroupRule): string {
  if (field === undefined) return 'scope';
  return name ?? fieldName(field, {});
}

/** Returns a rule in one line. */
export function groupRuleText({ rule, when }: GroupRule): string {
  return withShortUrns(when === undefined ? rule : `${rule} when ${when}`);
}
