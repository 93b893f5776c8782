import type { ScimContext } from './context.ts';

/** Tells the log which names of a body no schema knows: a mapping of the IdP leads nowhere. */
export function noteDropped({ scope }: ScimContext, dropped: string[]): void {
  if (dropped.length === 0) return;
  const names = dropped.slice(0, 20).map((name) => name.slice(0, 80));
  scope.log.info({ dropped: names }, 'attributes that no schema knows were left out');
}
