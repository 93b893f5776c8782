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

/** The views in the order of the navigation. */
export const views: View[] = [
  {
    path: '/overview',
    label: 'Overview',
    key: 'o',
    icon: IconGauge,
    isInBar: true,
    content: lazyView(async () => (await import('./views/overview/overview.tsx')).OverviewView),
  },
  {
    path: '/people',
    label: 'People',
    key: 'p',
    icon: IconUsers,
    isInBar: true,
    content: lazyView(async () => (await import('./views/people/people.tsx')).PeopleView),
  },
  {
    path: '/mappings',
    label: 'Mappings',
    key: 'm',
    icon: IconArrowsExchange,
    content: lazyView(async () => (await import('./views/mappings/mappings.tsx')).MappingsView),
  },
  {
    path: '/lists',
    label: 'Lists',
    key: 'l',
    icon: IconList,
    content: lazyView(async () => (await import('./views/lists/lists.tsx')).ListsView),
  },
  {
    path: '/traffic',
    label: 'Traffic',
    key: 't',
    icon: IconActivity,
    isInBar: true,
    content: lazyView(async () => (await import('./views/traffic/traffic.tsx')).TrafficView),
  },
  {
    path: '/held',
    label: 'Held',
    key: 'h',
    icon: IconHandStop,
    isInBar: true,
    content: lazyView(async () => (await import('./views/held/held.tsx')).HeldView),
    useCount: useHeldCount,
  },
  {
    path: '/shadow',
    label: 'Shadow',
    key: 'w',
    icon: IconGhost2,
    content: lazyView(async () => (await import('./views/shadow/shadow.tsx')).ShadowView),
  },
  {
    path: '/connect',
    label: 'Connect',
    key: 'c',
    icon: IconPlugConnected,
    content: lazyView(async () => (await import('./views/connect/connect.tsx')).ConnectView),
  },
  {
    path: '/travel',
    label: 'Travel service',
    key: 's',
    icon: IconPlane,
    content: lazyView(async () => (await import('./views/travel/travel.tsx')).TravelView),
  },
  {
    path: '/audit',
    label: 'Audit',
    key: 'a',
    icon: IconHistory,
    content: lazyView(async () => (await import('./views/audit/audit.tsx')).AuditView),
  },
  {
    path: '/accounts',
    label: 'Accounts',
    key: 'u',
    icon: IconUserShield,
    content: lazyView(async () => (await import('./views/accounts/accounts.tsx')).AccountsView),
  },
];
