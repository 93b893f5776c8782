import type { Filter } from './expression.ts';
import { type ResourceType, resolve } from './resource-type.ts';

/** Whether a filter asks for anything of these core attributes or extensions; if not, it can be evaluated without them. */
export function mentions(type: ResourceType, filter: Filter, names: readonly string[]): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.operands.some((operand) => mentions(type, operand, names));
    case 'not':
      return mentions(type, filter.operand, names);
    default: {
      const { urn, name } = resolve(type, filter.path);
      return names.includes(urn ?? name ?? '');
    }
  }
}
