import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeLists } from './conformance/lists.ts';

const databases = temporaryDatabases('jetbridge-lists-');

describe('the embedded database', () => describeLists(() => databases.open()));
