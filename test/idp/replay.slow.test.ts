import { scenarios, testScenarios } from './play-scenarios.ts';

testScenarios(scenarios);
