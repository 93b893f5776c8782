import type { Scenario } from '../../src/replay/scenario.ts';
import { scenarios, testScenarios } from './play-scenarios.ts';

// The slow test of the same name plays them all.
testScenarios(scenarios.filter(isFirstOfItsProvider));

function isFirstOfItsProvider({ name }: Scenario): boolean {
  const [provider] = name.split('-');
  return scenarios.find((other) => other.name.split('-')[0] === provider)?.name === name;
}
