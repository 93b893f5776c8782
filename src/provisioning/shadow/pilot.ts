import type { Memberships } from '../../model/group-ports.ts';
import type { UserGroup } from '../../model/translation.ts';
import type { Shadow } from '../../store/connection-modes.ts';
import type { ProvisioningStore } from '../../store/provisioning-store.ts';
import { toSourceUser } from '../../translator/fields/sources.ts';
import { conditionTests, withGroups } from '../../translator/rules/groups.ts';
import { groupsOfScope, namesOneOf } from '../../translator/rules/named-groups.ts';
import type { MappingScope } from '../../translator/rules/scope.ts';
import { planPages, type ShadowOutcome, shadowOutcomes, toShadowPerson } from './report.ts';

type PilotStore = Pick<ProvisioningStore, 'shadowPlans'> & {
  memberships: Pick<Memberships, 'findOf' | 'findUnknownNames'>;
};

/** The people whom another pilot would have, in numbers. */
export interface PilotPreview {
  live: number;
  planned: number;
  /** The people who would enter the pilot, by what then happens to their travelers. */
  entering: Record<ShadowOutcome, number>;
  leaving: number;
  /** The groups that the pilot names and the IdP has not sent. */
  unknownGroups: string[];
}

/** Counts the people whom another pilot would have; undefined: none. Reads everybody. */
export async function previewPilot(
  store: PilotStore,
  shadow: Shadow,
  pilot: MappingScope | undefined,
): Promise<PilotPreview> {
  const { connection } = shadow;
  const names = groupsOfScope({ scope: undefined, pilot });
  const unknownGroups = names.length === 0 ? [] : await store.memberships.findUnknownNames(connection, names);
  const isUnresolved = namesOneOf(unknownGroups);
  const readsGroups = conditionTests(pilot).length > 0;
  const matches = (user: Parameters<typeof withGroups>[0], groups: UserGroup[]) =>
    pilot?.judge(toSourceUser(withGroups(user, groups)).resource, isUnresolved) === 'in';
  const entering = Object.fromEntries(
    shadowOutcomes.map((outcome) => [outcome, 0]),
  ) as PilotPreview['entering'];
  let [live, planned, leaving] = [0, 0, 0];
  for await (const page of planPages(store.shadowPlans.findPage, connection)) {
    for (const identity of page.filter(({ claimed }) => claimed)) {
      const { id, desired, deletedAt } = identity;
      const { outcome } = toShadowPerson(identity, shadow);
      const isLive = outcome === 'live';
      const groups = readsGroups ? await store.memberships.findOf(connection, id) : [];
      // As `isInPilot` of the reconciler: a deleted user stays what the user was, until the pilot ends.
      const isIn = deletedAt === undefined ? matches(desired, groups) : isLive && pilot !== undefined;
      if (isIn) live += 1;
      else planned += 1;
      if (isIn && !isLive) entering[outcome] += 1;
      if (isLive && !isIn) leaving += 1;
    }
  }
  return { live, planned, entering, leaving, unknownGroups };
}
