/** The document about each view, below /docs: its page, and the heading if it is not the whole page. */
export const helpPages = {
  '/overview': 'admin-page.html#overview',
  '/people': 'operations/somebody-has-no-traveler.html',
  '/people/groups': 'mappings/groups.html',
  '/people/findings': 'operations/states-and-findings.html',
  '/people/duplicates': 'operations/unsent-and-duplicates.html',
  '/mappings': 'operations/change-a-mapping.html#on-the-admin-page',
  '/traffic': 'operations/requests.html',
  '/decisions': 'operations/held-changes.html#deciding',
  '/shadow': 'operations/shadow-mode.html',
  '/connect': 'operations/connections.html#on-the-admin-page',
  '/travel-data': 'admin-page.html#travel-data',
  '/audit': 'admin-page.html#settings',
  '/access': 'operations/admin-access.html',
  '/alerts': 'operations/alerts.html',
  '/access/tokens': 'operations/admin-access.html#access-for-scripts',
};

/** The path of a view, below /admin. */
export type ViewPath = keyof typeof helpPages;

/** Returns the address of the document about the view at a path below /admin; undefined if no view is there. */
export function helpAddress(path: string): string | undefined {
  // A path that begins with another one stands behind it.
  const view = Object.entries(helpPages).findLast(([start]) => `${path}/`.startsWith(`${start}/`));
  return view && `/docs/${view[1]}`;
}
