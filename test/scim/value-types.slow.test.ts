import { testValueTypes } from './value-types.ts';

describe('every published attribute', () => testValueTypes((attributes) => attributes));
