import {
  IconActivity,
  IconArrowsExchange,
  IconGauge,
  IconHandStop,
  IconHistory,
  IconPlane,
  IconPlugConnected,
  IconUserShield,
  IconUsers,
} from '@tabler/icons-react';
import { type ComponentType, lazy } from 'react';
import { useHeldCount } from './views/held/query.ts';

/** A view with an address of its own. */
export interface View {
  /** Below /admin. */
  path: string;
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

/** The views in the order of the navigation. Each is loaded when it opens first. */
export const views: View[] = [
  {
    path: '/overview',
    label: 'Overview',
    key: 'o',
    icon: IconGauge,
    isInBar: true,
    content: lazy(() =>
      import('./views/overview/overview.tsx').then((file) => ({ default: file.OverviewView })),
    ),
  },
  {
    path: '/people',
    label: 'People',
    key: 'p',
    icon: IconUsers,
    isInBar: true,
    content: lazy(() => import('./views/people/people.tsx').then((file) => ({ default: file.PeopleView }))),
  },
  {
    path: '/mappings',
    label: 'Mappings',
    key: 'm',
    icon: IconArrowsExchange,
    content: lazy(() =>
      import('./views/mappings/mappings.tsx').then((file) => ({ default: file.MappingsView })),
    ),
  },
  {
    path: '/traffic',
    label: 'Traffic',
    key: 't',
    icon: IconActivity,
    isInBar: true,
    content: lazy(() =>
      import('./views/traffic/traffic.tsx').then((file) => ({ default: file.TrafficView })),
    ),
  },
  {
    path: '/held',
    label: 'Held',
    key: 'h',
    icon: IconHandStop,
    isInBar: true,
    content: lazy(() => import('./views/held/held.tsx').then((file) => ({ default: file.HeldView }))),
    useCount: useHeldCount,
  },
  {
    path: '/connect',
    label: 'Connect',
    key: 'c',
    icon: IconPlugConnected,
    content: lazy(() =>
      import('./views/connect/connect.tsx').then((file) => ({ default: file.ConnectView })),
    ),
  },
  {
    path: '/travel',
    label: 'Travel service',
    key: 's',
    icon: IconPlane,
    content: lazy(() => import('./views/travel/travel.tsx').then((file) => ({ default: file.TravelView }))),
  },
  {
    path: '/audit',
    label: 'Audit',
    key: 'a',
    icon: IconHistory,
    content: lazy(() => import('./views/audit/audit.tsx').then((file) => ({ default: file.AuditView }))),
  },
  {
    path: '/accounts',
    label: 'Accounts',
    key: 'u',
    icon: IconUserShield,
    content: lazy(() =>
      import('./views/accounts/accounts.tsx').then((file) => ({ default: file.AccountsView })),
    ),
  },
];
