import {
  IconActivity,
  IconArrowsExchange,
  IconGauge,
  IconHandStop,
  IconPlane,
  IconPlugConnected,
  IconSettings,
  IconUsers,
} from '@tabler/icons-react';
import { type ComponentType, lazy } from 'react';
import type { ViewPath } from './help.ts';
import { useWaitingCount } from './views/decisions/query.ts';

/** A part of the page with an address of its own, below /admin. */
export interface Place {
  path: ViewPath;
  label: string;
  content: ComponentType;
}

/** A view of the navigation. A view with several places has tabs that lead to them; it opens with the first one. */
export interface View {
  label: string;
  /** The key that opens the view after `g`. */
  key: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  places: readonly [Place, ...Place[]];
  /** True for the views in the bar of a narrow screen; the others are in its menu. */
  isInBar?: true;
  /** Returns the number of things in the view that wait for an admin; shown in the navigation. */
  useCount?: () => number | undefined;
}

/** Loads a view when it opens first. */
function lazyView(load: () => Promise<ComponentType>): ComponentType {
  return lazy(async () => ({ default: await load() }));
}

const OverviewView = lazyView(async () => (await import('./views/overview/overview.tsx')).OverviewView);
const PeopleView = lazyView(async () => (await import('./views/people/people.tsx')).PeopleView);
const GroupsView = lazyView(async () => (await import('./views/people/groups.tsx')).GroupsView);
const FindingValuesView = lazyView(
  async () => (await import('./views/people/finding-values.tsx')).FindingValuesView,
);
const DuplicatesView = lazyView(async () => (await import('./views/people/duplicates.tsx')).DuplicatesView);
const MappingsView = lazyView(async () => (await import('./views/mappings/mappings.tsx')).MappingsView);
const TrafficView = lazyView(async () => (await import('./views/traffic/traffic.tsx')).TrafficView);
const DecisionsView = lazyView(async () => (await import('./views/decisions/decisions.tsx')).DecisionsView);
const ShadowView = lazyView(async () => (await import('./views/shadow/shadow.tsx')).ShadowView);
const ConnectView = lazyView(async () => (await import('./views/connect/connect.tsx')).ConnectView);
const TravelDataView = lazyView(
  async () => (await import('./views/travel-data/travel-data.tsx')).TravelDataView,
);
const AlertsView = lazyView(async () => (await import('./views/alerts/alerts.tsx')).AlertsView);
const AuditView = lazyView(async () => (await import('./views/audit/audit.tsx')).AuditView);
const SessionsView = lazyView(async () => (await import('./views/access/sessions.tsx')).SessionsView);
const TokensView = lazyView(async () => (await import('./views/access/tokens.tsx')).TokensView);

/** The views in the order of the navigation, by the headings of its groups. */
export const groups: { label?: string; views: View[] }[] = [
  {
    views: [
      {
        ...{ label: 'Overview', key: 'o', icon: IconGauge, isInBar: true },
        places: [{ path: '/overview', label: 'Overview', content: OverviewView }],
      },
      {
        ...{ label: 'People', key: 'p', icon: IconUsers, isInBar: true },
        places: [
          { path: '/people', label: 'People', content: PeopleView },
          { path: '/people/groups', label: 'Groups', content: GroupsView },
          { path: '/people/findings', label: 'Findings by value', content: FindingValuesView },
          { path: '/people/duplicates', label: 'Duplicates', content: DuplicatesView },
        ],
      },
      {
        ...{ label: 'Decisions', key: 'd', icon: IconHandStop, isInBar: true, useCount: useWaitingCount },
        places: [{ path: '/decisions', label: 'Decisions', content: DecisionsView }],
      },
    ],
  },
  {
    label: 'Provisioning',
    views: [
      {
        ...{ label: 'Mapping', key: 'm', icon: IconArrowsExchange },
        places: [{ path: '/mappings', label: 'Mapping', content: MappingsView }],
      },
      {
        ...{ label: 'Traffic', key: 't', icon: IconActivity, isInBar: true },
        places: [{ path: '/traffic', label: 'Traffic', content: TrafficView }],
      },
      {
        ...{ label: 'Connections', key: 'c', icon: IconPlugConnected },
        places: [
          { path: '/connect', label: 'Connections', content: ConnectView },
          { path: '/shadow', label: 'Shadow report', content: ShadowView },
        ],
      },
    ],
  },
  {
    label: 'Service',
    views: [
      {
        ...{ label: 'Travel data', key: 'v', icon: IconPlane },
        places: [{ path: '/travel-data', label: 'Travel data', content: TravelDataView }],
      },
      {
        ...{ label: 'Settings', key: 's', icon: IconSettings },
        places: [
          { path: '/audit', label: 'Audit', content: AuditView },
          { path: '/access', label: 'Sessions', content: SessionsView },
          { path: '/access/tokens', label: 'Tokens of scripts', content: TokensView },
          { path: '/alerts', label: 'Alerts', content: AlertsView },
        ],
      },
    ],
  },
];

export const views: View[] = groups.flatMap((group) => group.views);
