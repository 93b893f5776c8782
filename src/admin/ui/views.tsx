import {
  IconActivity,
  IconArrowsExchange,
  IconGauge,
  IconGhost2,
  IconHandStop,
  IconHistory,
  IconList,
  IconPlane,
  IconPlugConnected,
  IconUserShield,
  IconUsers,
} from '@tabler/icons-react';
import { type ComponentType, lazy } from 'react';
import type { ViewPath } from './help.ts';
import { useHeldCount } from './views/held/query.ts';

/** A view with an address of its own. */
export interface View {
  /** Below /admin. */
  path: ViewPath;
  label: string;
  /** The key that opens the view after `g`. */
  key: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  content: ComponentType;
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
const MappingsView = lazyView(async () => (await import('./views/mappings/mappings.tsx')).MappingsView);
const ListsView = lazyView(async () => (await import('./views/lists/lists.tsx')).ListsView);
const TrafficView = lazyView(async () => (await import('./views/traffic/traffic.tsx')).TrafficView);
const HeldView = lazyView(async () => (await import('./views/held/held.tsx')).HeldView);
const ShadowView = lazyView(async () => (await import('./views/shadow/shadow.tsx')).ShadowView);
const ConnectView = lazyView(async () => (await import('./views/connect/connect.tsx')).ConnectView);
const TravelView = lazyView(async () => (await import('./views/travel/travel.tsx')).TravelView);
const AuditView = lazyView(async () => (await import('./views/audit/audit.tsx')).AuditView);
const AccessView = lazyView(async () => (await import('./views/access/access.tsx')).AccessView);

/** The views in the order of the navigation. */
export const views: View[] = [
  { path: '/overview', label: 'Overview', key: 'o', icon: IconGauge, isInBar: true, content: OverviewView },
  { path: '/people', label: 'People', key: 'p', icon: IconUsers, isInBar: true, content: PeopleView },
  { path: '/mappings', label: 'Mappings', key: 'm', icon: IconArrowsExchange, content: MappingsView },
  { path: '/lists', label: 'Lists', key: 'l', icon: IconList, content: ListsView },
  { path: '/traffic', label: 'Traffic', key: 't', icon: IconActivity, isInBar: true, content: TrafficView },
  {
    path: '/held',
    label: 'Held',
    key: 'h',
    icon: IconHandStop,
    isInBar: true,
    content: HeldView,
    useCount: useHeldCount,
  },
  { path: '/shadow', label: 'Shadow', key: 'w', icon: IconGhost2, content: ShadowView },
  { path: '/connect', label: 'Connect', key: 'c', icon: IconPlugConnected, content: ConnectView },
  { path: '/travel', label: 'Travel service', key: 's', icon: IconPlane, content: TravelView },
  { path: '/audit', label: 'Audit', key: 'a', icon: IconHistory, content: AuditView },
  { path: '/access', label: 'Access', key: 'u', icon: IconUserShield, content: AccessView },
];
