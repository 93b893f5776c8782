import { firstOfEachKind, testValueTypes } from './value-types.ts';

// The slow test of the same name tries every published attribute.
describe('one published attribute of each kind', () => testValueTypes(firstOfEachKind));
