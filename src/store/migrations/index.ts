import type { Migration } from 'kysely';
import { bridgeTables } from './0001-bridge.ts';
import { travelTables } from './0002-travel.ts';
import { listColumns } from './0003-lists.ts';
import { narrowFirst } from './0004-narrow-first.ts';
import { travelPages } from './0005-travel-pages.ts';
import { webhookTables } from './0006-webhooks.ts';
import { credentialTables } from './0007-credentials.ts';
import { requestLogTable } from './0008-request-log.ts';
import { orderOfEvents } from './0009-order-of-events.ts';
import { addressKeys } from './0010-address-keys.ts';
import { holdTables } from './0011-holds.ts';
import { writeProbe } from './0012-write-probe.ts';
import { erasureTables } from './0013-erasure.ts';
import type { ColumnTypes } from './column-types.ts';

/** All migrations, by name, in order; written once for every database. */
export function migrations(types: ColumnTypes): Record<string, Migration> {
  return {
    '0001-bridge': bridgeTables(types),
    '0002-travel': travelTables(types),
    '0003-lists': listColumns(types),
    '0004-narrow-first': narrowFirst(types),
    '0005-travel-pages': travelPages(),
    '0006-webhooks': webhookTables(types),
    '0007-credentials': credentialTables(types),
    '0008-request-log': requestLogTable(types),
    '0009-order-of-events': orderOfEvents(types),
    '0010-address-keys': addressKeys(),
    '0011-holds': holdTables(types),
    '0012-write-probe': writeProbe(),
    '0013-erasure': erasureTables(types),
  };
}
