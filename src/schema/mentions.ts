import type { Filter } from './expression.ts';
import { type ResourceType, resolve } from './resource-type.ts';

/** Whether a filter asks for anything of that core attribute; if not, it need not be read to evaluate it. */
export function mentions(type: ResourceType, filter: Filter, name: string): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.operands.some((operand) => mentions(type, operand, name));
    case 'not':
      return mentions(type, filter.operand, name);
    default: {
      const resolved = resolve(type, filter.path);
      return resolved.urn === undefined && resolved.name === name;
    }
  }
}
