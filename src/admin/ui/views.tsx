import { IconHistory, IconUserShield } from '@tabler/icons-react';
import { type ComponentType, lazy } from 'react';

/** A view with an address of its own. */
export interface View {
  /** Below /admin. */
  path: string;
  label: string;
  /** The key that opens the view after `g`. */
  key: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  content: ComponentType;
}

/** The views in the order of the navigation. Each is loaded when it opens first. */
export const views: View[] = [
  {
    path: '/audit',
    label: 'Audit',
    key: 'a',
    icon: IconHistory,
    content: lazy(() => import('./views/audit.tsx').then((file) => ({ default: file.AuditView }))),
  },
  {
    path: '/accounts',
    label: 'Accounts',
    key: 'u',
    icon: IconUserShield,
    content: lazy(() => import('./views/accounts.tsx').then((file) => ({ default: file.AccountsView }))),
  },
];
