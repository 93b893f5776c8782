import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeRequestLog } from './conformance/request-log.ts';

const databases = temporaryDatabases('jetbridge-request-log-');

describe('the database', () => describeRequestLog(() => databases.open()));
