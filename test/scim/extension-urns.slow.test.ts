import { extensionUrns } from '../fixtures/extension-urns.ts';
import { testExtensions } from './extensions.ts';

testExtensions(extensionUrns);
