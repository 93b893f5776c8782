import { findViolations, type ObservedState } from '../histories/invariants.ts';
import type { World } from './world.ts';

/** Describes each promise of docs/architecture.md that is broken at rest. */
export async function brokenPromises(world: World, state: ObservedState): Promise<string[]> {
  return findViolations(state);
}
