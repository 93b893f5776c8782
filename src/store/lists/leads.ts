import type { Comparison, Where } from '../../provisioning/list-ports.ts';
import type { ListDefinition } from './list-definition.ts';

/** Comparisons of one field that must all hold, and that an index answers by a few rows, as one hopes. */
export interface Lead<Field extends string> {
  field: Field;
  comparisons: Comparison<Field>[];
  /** What its rows must meet; whatever else the condition allows, other leads find. */
  where: Where<Field>;
  /** The smaller, the fewer rows. */
  cost: number;
}

/**
 * The leads that together find all that a condition holds for (and more, as other parts of it may rule rows out again);
 * undefined: it has none.
 */
export function leadsOf<Field extends string>(
  fields: ListDefinition<Field, string, unknown>['fields'],
  where: Where<Field>,
): Lead<Field>[] | undefined {
  if ('any' in where) {
    const parts = where.any.map((part) => leadsOf(fields, part));
    return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
  }
  const parts = 'all' in where ? where.all : [where];
  const own = merged(fields, parts).map((lead) => [{ ...lead, where }]);
  const others = parts.map((part) =>
    'field' in part
      ? undefined
      : leadsOf(fields, part)?.map((lead) => ({
          ...lead,
          where: { all: parts.map((one) => (one === part ? lead.where : one)) },
        })),
  );
  return [...own, ...others]
    .filter((leads) => leads !== undefined)
    .sort((left, right) => costOf(left) - costOf(right))[0];
}

/** A range is one lead, whether it is told by one comparison or by two. */
function merged<Field extends string>(
  fields: ListDefinition<Field, string, unknown>['fields'],
  parts: Where<Field>[],
): Omit<Lead<Field>, 'where'>[] {
  const found = new Map<string, Omit<Lead<Field>, 'where'>>();
  for (const part of parts) {
    if (!('field' in part)) continue;
    const cost = fields[part.field].lead;
    if (cost === undefined) continue;
    const name = part.operator === 'eq' ? `${part.field} ${String(part.value)}` : part.field;
    const lead = found.get(name) ?? { field: part.field, comparisons: [], cost };
    lead.comparisons.push(part);
    found.set(name, lead);
  }
  return [...found.values()];
}

function costOf<Field extends string>(leads: Lead<Field>[]): number {
  return leads.reduce((sum, { cost }) => sum + cost, 0);
}
